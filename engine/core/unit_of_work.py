"""Transactions of the edges and walkers: one short one at a time, effects after the commit.

What many acts of one transaction add up (counters) is written once, as its last statements: rows
that everybody shares are then locked for as short as can be, and always in one order.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import event
from sqlalchemy.orm import Session, sessionmaker

from engine.core import db, effects, faults

_LAST: Final = "stellwerk_last_writes"


class LastWrite(Protocol):
    """Something that is added up during a transaction and written at its end."""

    def write(self, session: Session) -> None:
        """Write what was added up; called once, just before the commit."""
        ...


LastT = TypeVar("LastT", bound=LastWrite)


def last_write(session: Session, name: str, make: Callable[[], LastT]) -> LastT:
    """Return this transaction's last write of that name, made on first use; a rollback drops it."""
    kept: dict[str, Any] = session.info.setdefault(_LAST, {})
    if name not in kept:
        kept[name] = make()
    found: LastT = kept[name]
    return found


def attach(sessions: "sessionmaker[Session] | type[Session]") -> None:
    """Listen on a session factory; the web's own session class calls this too."""
    effects.attach(sessions)
    event.listen(sessions, "before_commit", _write_last)
    event.listen(sessions, "after_rollback", _drop_last)


def _write_last(session: Session) -> None:
    if session.in_nested_transaction():
        return
    for _, kept in sorted(session.info.pop(_LAST, {}).items()):
        kept.write(session)
    faults.point("commit.written")


def _drop_last(session: Session) -> None:
    if not session.in_nested_transaction():
        session.info.pop(_LAST, None)


class UnitOfWork:
    """Opens transactions on one database. Services get a session and never commit."""

    def __init__(self, database: db.Database) -> None:
        self.database = database
        attach(database.sessions)

    @contextmanager
    def begin(self, workspace_id: int | None = None) -> Iterator[Session]:
        """Yield a writing session; commit when the block ends, roll back when it raises.

        workspace_id: scope of the session; None for sweeps, which see every workspace.
        """
        with self.database.session() as session:
            open_for_writing(session)
            if workspace_id is not None:
                db.scope(session, workspace_id)
            yield session
            faults.point("commit.begun")
            session.commit()
        faults.point("commit.done")

    @contextmanager
    def read(self, workspace_id: int | None = None) -> Iterator[Session]:
        """Yield a session for reading; nothing it does is kept."""
        with self.database.session() as session:
            if workspace_id is not None:
                db.scope(session, workspace_id)
            yield session


def open_for_writing(session: Session) -> None:
    """Begin the session's transaction as a writing one (BEGIN IMMEDIATE on SQLite)."""
    session.connection(execution_options=db.WRITE)
