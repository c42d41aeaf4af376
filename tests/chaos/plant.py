"""An installation for chaos: services of its own, two real workers, a clock that runs faster.

The clock file that all processes share (STELLWERK_TEST_CLOCK) is moved on all the time, so that
minutes of sweeps, leases and mail rates pass in seconds; the product knows nothing of it.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pydantic import SecretStr
from redis import Redis as RedisClient
from redis import RedisError

import engine.house
from engine.core import clock, effects
from engine.core.settings import Settings
from engine.house import House
from tasks.dispatch import connect
from tests.support.database import migrate
from tests.support.servers import Postgres, Redis
from tests.support.sink import SmtpSink
from tests.support.stack import Stack

# Seconds of the engine's clock in one second.
FASTER: Final = 6.0
THREADS: Final = 2
_TURN_S: Final = 0.05


class RunningClock:
    """Moves the shared clock file on; a second lasts a fraction of itself."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._over = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="Clock", daemon=True)
        self._write()
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(_TURN_S):
            self._write()

    def _write(self) -> None:
        # In one piece: a half-written file would throw every clock back.
        draft = self._path.with_suffix(".draft")
        draft.write_text(f"{(time.monotonic() - self._began) * (FASTER - 1):.3f}")
        draft.replace(self._path)

    def stop(self) -> None:
        """Let the clock run as fast as the machine's again."""
        self._over.set()
        self._thread.join()


class Plant:
    """The installation: what runs in it may be killed, stopped and taken away at any time."""

    def __init__(self, home: Path, sink: SmtpSink, leg: str) -> None:
        self.sink, self.leg = sink, leg
        self.postgres = Postgres() if leg == "postgres" else None
        self.redis = Redis() if leg == "postgres" else None
        url = f"sqlite:///{home / 'stellwerk.db'}"
        if self.postgres is not None:
            url = self.postgres.url(self.postgres.create())
        home.mkdir(parents=True)
        migrate(url)
        self.stack = Stack(home, url, self.redis.next_url() if self.redis else None)
        self.stack.env |= {
            "STELLWERK_SMTP_URL": sink.url,
            "STELLWERK_WORKERS": str(THREADS),
            "STELLWERK_SECRET_KEY": "a secret for tests, 32 characters long",
        }
        self.clock = RunningClock(home / "test-clock")
        self.workers: list[subprocess.Popen[bytes]] = []

    @contextmanager
    def house(self) -> Iterator[House]:
        """Yield a started engine of this process, whose hints go to the workers' queue."""
        env = self.stack.env
        redis = env.get("STELLWERK_REDIS_URL")
        settings = Settings(
            home=self.stack.home,
            database_url=SecretStr(self.stack.database_url),
            redis_url=SecretStr(redis) if redis else None,
            secret_key=SecretStr(env["STELLWERK_SECRET_KEY"]),
            testing=True,
            test_clock=self.stack.home / "test-clock",
        )
        queues, dispatch = connect(settings)
        started = engine.house.start(settings, dispatch)
        try:
            yield started
        finally:
            started.close()
            queues.close()
            effects.install(lambda _effects: None)
            clock.install(clock.SystemClock())

    def start(self, count: int) -> None:
        """Start so many workers."""
        self.workers += [self.stack.start("worker") for _ in range(count)]

    def kill(self, place: int) -> None:
        """Kill a worker at once, and start another in its place."""
        self.stack.kill(self.workers.pop(place))
        self.start(1)

    def end(self, place: int) -> int:
        """Ask a worker to stop, start another in its place; return the exit code."""
        code = self.stack.stop(self.workers.pop(place), 60)
        self.start(1)
        return code

    def freeze(self, place: int) -> "subprocess.Popen[bytes]":
        """Stop a worker in the middle of whatever it does."""
        frozen = self.workers[place]
        os.killpg(frozen.pid, signal.SIGSTOP)
        return frozen

    def thaw(self, frozen: "subprocess.Popen[bytes]") -> None:
        """Let a stopped worker go on as if nothing had happened."""
        os.killpg(frozen.pid, signal.SIGCONT)

    def flush(self) -> None:
        """Lose every hint: FLUSHALL, or the queue's file deleted."""
        if self.redis is not None:
            with suppress(RedisError):
                RedisClient(port=self.redis.port).flushall()
            return
        for file in self.stack.home.glob("queue.db*"):
            file.unlink(missing_ok=True)

    def close(self) -> None:
        """End everything."""
        self.stack.close()
        self.clock.stop()
        for server in (self.postgres, self.redis):
            if server is not None:
                server.stop()
