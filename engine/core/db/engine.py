"""Engines and sessions for both databases (decision G7).

SQLite: WAL, synchronous FULL, foreign keys on; reads begin deferred, writes begin immediate.
"""

import sqlite3
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from engine.core.db import guard

WRITE: Final[dict[str, Any]] = {"stellwerk_write": True}
_BUSY_MS: Final = 30_000


def make_engine(url: URL) -> Engine:
    """Return an engine for `url`; everything the product needs of the dialect is set here."""
    # hide_parameters: an error that is logged must not carry the addresses of people along.
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, hide_parameters=True, connect_args={"timeout": _BUSY_MS / 1000})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        engine = create_engine(
            url, hide_parameters=True, pool_size=10, max_overflow=20, pool_pre_ping=True
        )
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


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("stellwerk_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


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
