"""The workspace guard (decision G4): a session scoped to a workspace reaches no other.

ORM statements get the workspace as loader criteria; every statement that still names a workspace
table without a workspace predicate (Core, text) is refused before it reaches the database.
Sweeps run in sessions without a workspace and are not restricted.
"""

import re
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, Engine, event
from sqlalchemy.orm import (
    ORMExecuteState,
    Session,
    SessionTransaction,
    sessionmaker,
    with_loader_criteria,
)
from sqlalchemy.pool import ConnectionPoolEntry

from engine.core.db.schema import Base, WorkspaceRow

_KEY: Final = "workspace_id"
_FLUSHING: Final = "stellwerk_flushing"
_RELOAD: Final = "stellwerk_reload"
_TABLE: Final = re.compile(r'\b(?:FROM|JOIN|UPDATE|INTO|,)\s+"?([a-z_]+)"?', re.IGNORECASE)
# A predicate compares with a value; a join of two columns restricts nothing.
_PREDICATE: Final = re.compile(r"\bworkspace_id\s*=\s*(?:\?|:|%|\$|\d)", re.IGNORECASE)
_INSERT: Final = re.compile(
    r"^\s*(?:WITH\b.*?\)\s*)?INSERT\s+INTO\s+\S+\s*\(([^)]*)\)", re.I | re.S
)


class WorkspaceBreach(RuntimeError):
    """A statement or a row of a scoped session would reach another workspace. Always a bug."""


def scope(session: Session, workspace_id: int) -> None:
    """Restrict `session` to one workspace from now on; it cannot be widened again."""
    before = session.info.get(_KEY)
    if before not in (None, workspace_id):
        raise WorkspaceBreach("a session cannot change its workspace")
    session.info[_KEY] = workspace_id
    if session.in_transaction():
        session.connection().info[_KEY] = workspace_id


def scope_of(session: Session) -> int | None:
    """Return the workspace that `session` is restricted to, if any."""
    found: int | None = session.info.get(_KEY)
    return found


def attach(sessions: "sessionmaker[Session] | type[Session]") -> None:
    """Listen on a session factory; the web's own session class calls this too."""
    event.listen(sessions, "after_begin", _mark_connection)
    event.listen(sessions, "do_orm_execute", _add_criteria)
    event.listen(sessions, "before_flush", _check_rows)
    event.listen(sessions, "after_flush", _end_flush)


def watch(engine: Engine) -> None:
    """Check each statement of `engine` against the scope of its session."""
    event.listen(engine, "before_cursor_execute", _check_statement)
    event.listen(engine, "checkin", _forget)


def _mark_connection(session: Session, _t: SessionTransaction, connection: Connection) -> None:
    connection.info[_KEY] = session.info.get(_KEY)
    connection.info[_FLUSHING] = False


def _forget(_connection: object, entry: ConnectionPoolEntry) -> None:
    entry.info.pop(_KEY, None)
    entry.info.pop(_FLUSHING, None)


def _add_criteria(state: ORMExecuteState) -> None:
    workspace_id = state.session.info.get(_KEY)
    if workspace_id is None or state.is_relationship_load:
        return
    if state.is_column_load:
        # A refresh reads by key alone; the row it renews came through this guard before.
        state.update_execution_options(**{_RELOAD: True})
        return
    state.statement = state.statement.options(
        with_loader_criteria(
            WorkspaceRow, lambda cls: cls.workspace_id == workspace_id, include_aliases=True
        )
    )


def _check_rows(session: Session, _context: object, _instances: object) -> None:
    workspace_id = session.info.get(_KEY)
    if workspace_id is not None:
        for row in (*session.new, *session.dirty, *session.deleted):
            if isinstance(row, WorkspaceRow) and row.workspace_id != workspace_id:
                raise WorkspaceBreach(f"a row of {type(row).__name__} belongs elsewhere")
        # The unit of work updates by primary key; its rows have just been checked.
        session.connection().info[_FLUSHING] = True


def _end_flush(session: Session, _context: object) -> None:
    session.connection().info[_FLUSHING] = False


@lru_cache(maxsize=1)
def guarded_tables() -> frozenset[str]:
    """Return the names of all tables that bear a workspace."""
    return frozenset(
        mapper.local_table.name  # type: ignore[attr-defined]
        for mapper in Base.registry.mappers
        if issubclass(mapper.class_, WorkspaceRow)
    )


@lru_cache(maxsize=4096)
def _breach(statement: str) -> str | None:
    named = {name.lower() for name in _TABLE.findall(statement)} & guarded_tables()
    if not named or _PREDICATE.search(statement):
        return None
    insert = _INSERT.match(statement)
    if insert and _KEY in insert[1]:
        return None
    return ", ".join(sorted(named))


def _check_statement(
    connection: Connection,
    _cursor: Any,
    statement: str,
    _parameters: Any,
    context: Any,
    _executemany: bool,
) -> None:
    info = connection.info
    if info.get(_KEY) is None or info.get(_FLUSHING):
        return
    if context is not None and context.execution_options.get(_RELOAD):
        return
    named = _breach(statement)
    if named:
        raise WorkspaceBreach(f"a scoped statement on {named} bears no workspace predicate")
