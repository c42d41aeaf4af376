"""Where a measurement happens: a PostgreSQL that really syncs, a Redis, folders, fresh databases.

The server settings are those of the comparison: fsync and synchronous_commit on, 512 MB of buffers.
"""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import psycopg

from tests.support.database import migrate
from tests.support.servers import Postgres, Redis

Db = Literal["pg", "sqlite"]
_OPTIONS: Final = (
    "fsync=on",
    "synchronous_commit=on",
    "shared_buffers=512MB",
    "max_wal_size=4GB",
    "max_connections=200",
    "listen_addresses=127.0.0.1",
)


@dataclass
class Places:
    """What measurements share. Each asks for databases and folders of its own."""

    folder: Path
    postgres: Postgres
    redis: Redis
    _templates: dict[Db, str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def new_folder(self) -> Path:
        """Return an empty folder on the disk."""
        path = self.folder / f"home-{next(self._numbers)}"
        path.mkdir()
        return path

    def product_url(self, db: Db, home: Path) -> str:
        """Return the address of a fresh database with the product's schema."""
        if db == "sqlite":
            if db not in self._templates:
                path = self.folder / "template.db"
                migrate(f"sqlite:///{path}")
                self._templates[db] = str(path)
            target = home / "stellwerk.db"
            shutil.copyfile(self._templates[db], target)
            return f"sqlite:///{target}"
        if db not in self._templates:
            name = self.postgres.create()
            migrate(self.postgres.url(name))
            self._templates[db] = name
        return self.postgres.url(self.postgres.create(self._templates[db]))

    def plain_url(self) -> str:
        """Return the libpq address of a fresh, empty PostgreSQL database."""
        return libpq(self.postgres.url(self.postgres.create()))

    def forget(self, url: str) -> None:
        """Drop a PostgreSQL database when its measurement is over; a folder simply stays."""
        if url.startswith("postgresql"):
            self.postgres.drop(url.rsplit("/", 1)[1])


def libpq(url: str) -> str:
    """Return an SQLAlchemy address of PostgreSQL as psycopg reads it."""
    return url.replace("postgresql+psycopg://", "postgresql://")


def vacuum(url: str) -> None:
    """Let PostgreSQL know its tables, as a server that has been up for a while does."""
    if url.startswith("postgresql"):
        with psycopg.connect(libpq(url), autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


@contextmanager
def opened() -> Iterator[Places]:
    """Start the servers, yield the places, and leave nothing behind."""
    folder = Path(tempfile.mkdtemp(prefix="stellwerk-bench-"))
    folder.chmod(0o755)  # the server's user must be able to enter
    postgres = redis = None
    try:
        postgres = Postgres(_OPTIONS, folder)
        redis = Redis()
        yield Places(folder, postgres, redis)
    finally:
        for server in (postgres, redis):
            if server is not None:
                server.stop()
        shutil.rmtree(folder, ignore_errors=True)
