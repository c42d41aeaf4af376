"""Hooks of a web server under `stellwerk up`: those of any web server, and the lifeline."""

import os
import signal
from typing import Any

from tasks import gunicorn_hooks
from tasks.gunicorn_hooks import post_worker_init, worker_exit
from tasks.lifeline import tie


def when_ready(server: Any) -> None:
    """Drain on Ctrl-C, and when the supervisor is gone."""
    gunicorn_hooks.when_ready(server)
    tie(lambda: os.kill(os.getpid(), signal.SIGTERM))


__all__ = ["post_worker_init", "when_ready", "worker_exit"]
