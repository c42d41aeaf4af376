"""Transactions of the edges and walkers: one short one at a time, effects after the commit."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from engine.core import db, effects


class UnitOfWork:
    """Opens transactions on one database. Services get a session and never commit."""

    def __init__(self, database: db.Database) -> None:
        self.database = database
        effects.attach(database.sessions)

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
            session.commit()

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
