"""Where hints lie: a SQLite file of its own, or Redis. Both may vanish at any moment (decision G2).

A lost queue is a new, empty queue: the sweeps find the same work in the rows.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import structlog
from huey.storage import PriorityRedisExpireStorage, SqliteStorage
from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.retry import Retry

log: Final = structlog.get_logger(__name__)

_BUSY_S: Final = 5
_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_CONNECT_S: Final = 2
# Longer than the blocking read of one second.
_ANSWER_S: Final = 5

FileMark = tuple[int, int]


class QueueFile(SqliteStorage):  # type: ignore[misc] # published without types
    """One queue in the SQLite file; notices that the file was deleted, replaced or spoilt.

    WAL and synchronous NORMAL (decision G7): a power cut may lose hints, never rows.
    """

    _conn: sqlite3.Connection | None

    def __init__(self, name: str, path: Path) -> None:
        self._mark: FileMark | None = None
        super().__init__(name, filename=str(path), timeout=_BUSY_S, create_tables=False)

    @property
    def conn(self) -> sqlite3.Connection:
        """Return a connection to the file that stands at the path now, its tables made."""
        if self._conn is not None and self._mark != self._standing():
            log.warning("queue_file_replaced", queue=self.name)
            self._let_go()
        if self._conn is None:
            self._conn = self._create_connection()
            self._mark = self._standing()
        return self._conn

    def _create_connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = super()._create_connection()
        connection.execute("PRAGMA synchronous=NORMAL")
        for statement in self.ddl:
            connection.execute(statement)
        return connection

    @contextmanager
    def db(self, commit: bool = False, close: bool = False) -> Iterator[sqlite3.Cursor]:
        """Yield a cursor under the storage's lock; a spoilt file is put aside for a new one."""
        try:
            with super().db(commit, close) as cursor:
                yield cursor
        except sqlite3.DatabaseError as error:
            self._recover(error)
            raise

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return
        with self.lock:
            self._let_go()
            if code in _BROKEN:
                log.warning("queue_file_spoilt", queue=self.name)
                for end in ("", "-wal", "-shm"):
                    Path(self.filename + end).unlink(missing_ok=True)

    def _let_go(self) -> None:
        if self._conn is not None:
            with suppress(sqlite3.Error):
                self._conn.close()
        self._conn = None

    def _standing(self) -> FileMark | None:
        try:
            found = Path(self.filename).stat()
        except FileNotFoundError:
            return None
        # A file of ours is never empty: this one was cut.
        return (found.st_dev, found.st_ino) if found.st_size else None


class QueueRedis(PriorityRedisExpireStorage):  # type: ignore[misc] # published without types
    """One queue in Redis. Nothing waits long for a Redis that is away: a hint is not worth it."""

    def __init__(self, name: str, url: str) -> None:
        pool = ConnectionPool.from_url(
            url,
            socket_connect_timeout=_CONNECT_S,
            socket_timeout=_ANSWER_S,
            retry=Retry(NoBackoff(), 0),
        )
        super().__init__(f"stellwerk_{name}", connection_pool=pool)

    def convert_ts(self, ts: datetime) -> float:
        """Return an instant as seconds since the epoch; the library's own way drifts in summer."""
        return ts.timestamp()

    def close(self) -> Any:
        """Close every connection of the pool."""
        self.pool.disconnect()
        return True
