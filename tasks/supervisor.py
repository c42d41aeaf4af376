"""Runs web and worker as children in one foreground process group, and ends them together."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import Final

import click

from tasks.consumer import DRAIN_S
from tasks.worker import OUTDATED

WEB_PROCESSES: Final = 2
WEB_THREADS: Final = 4
# A child that ends by itself sooner than this would do so again; a web server tries for five
# seconds to get its port before it gives up.
SETTLED_S: Final = 10.0
# Before a child that was killed right after its start is started again.
_PAUSE_S: Final = 1.0
_LOOK_S: Final = 0.1
_PATIENCE_S: Final = DRAIN_S + 5


def require_port(host: str, port: int) -> None:
    """Raise ClickException, with the remedy, when the address cannot be listened on."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise click.ClickException(
                f"cannot listen on {host}:{port} ({error.strerror}): "
                "choose another with --port or STELLWERK_PORT."
            ) from None


def web_command(host: str, port: int, *, tied: bool = False) -> list[str]:
    """Return the command line of the web server. tied: it ends when its parent is gone."""
    return [
        sys.executable, "-m", "gunicorn", "app:create_app()",
        "--config", f"python:tasks.gunicorn_{'tied' if tied else 'hooks'}",
        "--bind", f"{host}:{port}",
        "--worker-class", "tasks.gunicorn_worker.PromptWorker",
        "--workers", str(WEB_PROCESSES),
        "--threads", str(WEB_THREADS),
        "--graceful-timeout", str(int(DRAIN_S)),
        "--log-level", "warning",
        "--no-control-socket",
    ]  # fmt: skip


def worker_command() -> list[str]:
    """Return the command line of a worker for all queues that ends when its parent is gone."""
    return [sys.executable, "-m", "app", "worker", "--tied"]


class Child:
    """A process of ours that is meant to live as long as we do."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._command = command
        self.start()

    def start(self) -> None:
        """Start the process in our own group."""
        # Ctrl-C reaches the whole group. The children do not hear it, not even while they still
        # import: we alone tell them to end, gracefully.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)  # noqa: S603 - ours
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        self._began = time.monotonic()

    def settled(self) -> bool:
        """Return whether it had lived for a while."""
        return time.monotonic() - self._began >= SETTLED_S


class Supervisor:
    """Keeps children running until SIGTERM or Ctrl-C."""

    def __init__(self, commands: Sequence[tuple[str, Sequence[str]]]) -> None:
        self._commands = commands
        self._children: list[Child] = []
        self._asked = False

    def run(self) -> int:
        """Run until asked to stop; return the exit code: 1 when a child could not be kept alive."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        code = 0
        try:
            self._children = [Child(name, command) for name, command in self._commands]
            while not self._asked and code == 0:
                time.sleep(_LOOK_S)
                code = self._look()
        finally:
            if self._asked:
                click.echo(
                    f"Stopping; work under way is finished first, for {DRAIN_S:.0f} s at most."
                )
                sys.stdout.flush()
            self._end()
        return code

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._asked = True

    def _look(self) -> int:
        for child in self._children:
            ended = child.process.poll()
            if ended is None or self._asked:
                continue
            if ended == OUTDATED:
                self._let_rest(child)
                return 0 if self._children else OUTDATED
            killed = ended < 0
            if not child.settled() and not killed:
                click.echo(f"The {child.name} ended with {ended} right after its start.", err=True)
                return 1
            click.echo(f"The {child.name} ended with {ended}; it is started again.", err=True)
            if not child.settled():
                # Somebody else ended it, want of memory for example; the other children go on.
                time.sleep(_PAUSE_S)
            child.start()
        return 0

    def _let_rest(self, child: Child) -> None:
        """Go on without a child whose program is too old; the others say so to people."""
        click.echo(
            f"The {child.name} has ended, because a newer Stellwerk has upgraded the database; it "
            "is not started again. Start the newer version.",
            err=True,
        )
        self._children.remove(child)

    def _end(self) -> None:
        for child in self._children:
            if child.process.poll() is None:
                child.process.terminate()
        end = time.monotonic() + _PATIENCE_S
        for child in self._children:
            try:
                child.process.wait(max(end - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                click.echo(f"The {child.name} did not end in time; it is killed.", err=True)
                child.process.kill()
                child.process.wait()
