"""Engines and sessions for both databases (decision G7).

SQLite: WAL, synchronous FULL, foreign keys on; reads begin deferred, writes begin immediate.
"""

import math
import sqlite3
import threading
import time
from typing import Any, Final

import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from engine.core.db import guard

WRITE: Final[dict[str, Any]] = {"stellwerk_write": True}
_BUSY_MS: Final = 30_000
# A server that was restarted shows at the next checkout of a connection that lay idle so long.
_IDLE_S: Final = 1.0
_RETURNED: Final = "stellwerk_returned"
_TURN: Final = "stellwerk_turn"


def make_engine(url: URL) -> Engine:
    """Return an engine for `url`; everything the product needs of the dialect is set here."""
    # hide_parameters: an error that is logged must not carry the addresses of people along.
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, hide_parameters=True, connect_args={"timeout": _BUSY_MS / 1000})
        event.listen(engine, "connect", _prepare_sqlite)
        turns = _Turns()
        event.listen(engine, "begin", turns.begin)
        event.listen(engine, "checkin", turns.end)
    else:
        engine = create_engine(url, hide_parameters=True, pool_size=10, max_overflow=20)
        event.listen(engine, "checkin", _note_return)
        event.listen(engine, "checkout", _ask_idle)
    guard.watch(engine)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver must not begin transactions by itself: _begin_sqlite says deferred or immediate.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"busy_timeout={_BUSY_MS}",
        "temp_store=MEMORY",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


class _Turns:
    """Writers of one process take turns here, before they ask SQLite for its one write lock.

    SQLite has who waits ask again after ever longer sleeps; a lock wakes the next one at once.
    Other processes wait as ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def begin(self, connection: Connection) -> None:
        """Begin a transaction; a writing one after its turn has come."""
        writes = connection.get_execution_options().get("stellwerk_write", False)
        # A connection that begins once more before it goes back still has its turn.
        if writes and not connection.info.get(_TURN, False):
            # Whoever waits in vain goes on to SQLite and is told there that it is busy.
            connection.info[_TURN] = self._lock.acquire(timeout=_BUSY_MS / 1000)
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
        except DBAPIError:
            self._release(connection.info)
            raise

    def end(self, _connection: object, entry: ConnectionPoolEntry) -> None:
        """Let the next one write, as this connection goes back to the pool."""
        self._release(entry.info)

    def _release(self, info: dict[Any, Any]) -> None:
        if info.pop(_TURN, False):
            self._lock.release()


def _note_return(_connection: object, entry: ConnectionPoolEntry) -> None:
    entry.info[_RETURNED] = time.monotonic()


def _ask_idle(
    connection: DBAPIConnection, entry: ConnectionPoolEntry, _proxy: PoolProxiedConnection
) -> None:
    """Ask a connection that lay idle whether it still lives; one just used need not pay for it."""
    if time.monotonic() - entry.info.get(_RETURNED, -math.inf) < _IDLE_S:
        return
    try:
        cursor = connection.cursor()
        cursor.execute("SELECT 1")
        cursor.close()
        connection.rollback()
    except psycopg.Error as error:
        raise DisconnectionError from error


class Database:
    """One engine and its session factory; the web and the workers share the listeners."""

    def __init__(self, url: URL) -> None:
        self.engine = make_engine(url)
        self.sessions = sessionmaker(self.engine, expire_on_commit=False)
        guard.attach(self.sessions)

    def session(self) -> Session:
        """Return a new session that has not begun."""
        return self.sessions()

    def dispose(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()
