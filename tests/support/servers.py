"""An ephemeral PostgreSQL and an ephemeral Redis, each on a private port in a folder of its own.

PostgreSQL refuses to run as root, so root hands it to the user `postgres`. Neither syncs to disk:
tests kill processes, never the machine.
"""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.support import programs
from tests.support.waiting import answers, free_port, wait_for

_POSTGRES_OPTIONS: Final = (
    "fsync=off",
    "full_page_writes=off",
    "max_connections=300",
    "shared_buffers=128MB",
    "listen_addresses=127.0.0.1",
    "timezone=Pacific/Auckland",  # a server's own zone must not matter (decision G6)
)


def in_memory() -> Path | None:
    """Return a folder in memory with room for the files of servers and tests, or None.

    Each commit of SQLite waits for its disk, and a copy of a database on PostgreSQL is some
    hundred new files. Tests kill processes, never the machine: nothing has to outlive it.
    """
    folder = Path("/dev/shm")  # noqa: S108 - a private folder is made inside
    if os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free > 2 * 2**30:
        return folder
    return None


class Server:
    """A child process with a private port and a temporary folder, both gone after stop()."""

    def __init__(self, name: str, place: Path | None = None) -> None:
        self.port = free_port()
        where = place or in_memory()
        self.folder = Path(tempfile.mkdtemp(prefix=f"stellwerk-{name}-", dir=where))
        self._process: subprocess.Popen[bytes] | None = None
        self._command: Sequence[str | Path] = ()
        self._options: dict[str, Any] = {}

    def spawn(self, command: Sequence[str | Path], **options: Any) -> None:
        """Start the server and wait until its port answers."""
        self._command, self._options = command, options
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, **options
            )
        wait_for(self._ready, f"a server on port {self.port}, see {log}")

    def go_away(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the server by a signal; its folder stays."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(60)

    def come_back(self) -> None:
        """Start the server again on its port and folder."""
        self.spawn(self._command, **self._options)

    def restart(self, how: signal.Signals) -> None:
        """End the server by a signal and start it again."""
        self.go_away(how)
        self.come_back()

    def _ready(self) -> bool:
        if self._process and self._process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
        return answers(self.port)

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres(Server):
    """A cluster of its own; databases are made from a template in a few milliseconds.

    options: of the server, instead of those of the tests; place: where its folder is made.
    """

    def __init__(
        self, options: Sequence[str] = _POSTGRES_OPTIONS, place: Path | None = None
    ) -> None:
        paths = programs.need("PostgreSQL", ("postgres", "initdb"))
        super().__init__("pg", place)
        self._numbers = itertools.count(1)
        data = self.folder / "data"
        other: dict[str, Any] = {"cwd": self.folder}
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            other |= {"user": "postgres", "group": "postgres", "extra_groups": []}
        subprocess.run(
            [paths["initdb"], "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
             "-U", "postgres", "--no-sync"],
            check=True, capture_output=True, **other,
        )  # fmt: skip
        flags = itertools.chain.from_iterable(("-c", option) for option in options)
        self.spawn(
            [paths["postgres"], "-D", data, "-p", str(self.port), *flags,
             "-c", f"unix_socket_directories={self.folder}"],
            **other,
        )  # fmt: skip
        # The port opens a moment before the server takes sessions.
        wait_for(self._takes_sessions, "PostgreSQL", ignore=psycopg.Error)

    def _takes_sessions(self) -> bool:
        self.run("SELECT 1")
        return True

    def url(self, database: str) -> str:
        """Return the SQLAlchemy address of a database of this cluster."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str) -> None:
        """Run one administrative statement outside any transaction."""
        with psycopg.connect(
            host="127.0.0.1", port=self.port, user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(statement.encode())

    def create(self, template: str | None = None) -> str:
        """Create a database, a copy of `template` when given, and return its name."""
        name = f"test_{next(self._numbers)}"
        self.run(f'CREATE DATABASE {name} TEMPLATE "{template or "template0"}"')
        return name

    def freeze(self, name: str) -> None:
        """Let nobody connect to `name` any more, so that it can always be copied."""
        self.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")

    def drop(self, name: str) -> None:
        """Drop a database together with the sessions that are still on it."""
        self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


class Redis(Server):
    """A Redis with a numbered database for each test."""

    def __init__(self) -> None:
        paths = programs.need("Redis", ("redis-server",))
        super().__init__("redis")
        self._numbers = itertools.count(0)
        self.spawn(
            [paths["redis-server"], "--port", str(self.port), "--bind", "127.0.0.1",
             "--dir", self.folder, "--save", "", "--appendonly", "no", "--databases", "20000"],
        )  # fmt: skip

    def next_url(self) -> str:
        """Return the address of a database that no test has used yet."""
        return f"redis://127.0.0.1:{self.port}/{next(self._numbers)}"
