"""Hooks of the web server: Ctrl-C drains as SIGTERM does, for a terminal sends it to everybody."""

import gc
import signal
from types import FrameType
from typing import Any


def when_ready(server: Any) -> None:
    """Let the master take SIGINT for SIGTERM: requests under way are answered."""

    def drain(_signal: int, _frame: FrameType | None) -> None:
        server.SIG_QUEUE.put_nowait(signal.SIGTERM)

    signal.signal(signal.SIGINT, drain)


def worker_exit(_server: Any, _worker: Any) -> None:
    """Spare the process a last search for garbage in all that ends with it; it took a second."""
    gc.freeze()


def post_worker_init(_worker: Any) -> None:
    """Let the processes below wait for their master's word."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
