"""Statements of hot paths: built once for each dialect, and given only values from then on.

To build a statement costs SQLAlchemy thirty times as much as to run one that stands. A prepared
statement is made of tables, not of mapped classes (`table_of`), and what differs from use to use
are named binds; in a scoped session it has to name its workspace itself, like all Core statements:
by a column of its own, or `within_scope`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import ColumnElement, Executable, Result, Table, bindparam, or_
from sqlalchemy.orm import Session

from engine.core.db.schema import Base, Id


class Prepared:
    """One statement. build: makes it for a dialect (`postgresql` or `sqlite`), with named binds."""

    def __init__(self, build: Callable[[str], Executable]) -> None:
        self._built = lru_cache(maxsize=None)(build)

    def run(self, session: Session, **values: Any) -> Result[*tuple[Any, ...]]:
        """Execute with a value for each named bind."""
        return session.execute(self._built(dialect_of(session)), values)

    def run_many(self, session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute once for each row of values, by the driver's own loop; answers nothing."""
        session.connection().execute(self._built(dialect_of(session)), rows)


def within_scope(column: Any) -> ColumnElement[bool]:
    """Return "`column` is the workspace of the session", true for all where it has none.

    For reads that walkers do across workspaces and a page within its own; the value comes as bind
    `scope`, from `scope_of`.
    """
    scope = bindparam("scope", type_=Id)
    return or_(scope.is_(None), column == scope)


def dialect_of(session: Session) -> str:
    """Return the name of the session's dialect: `postgresql` or `sqlite`."""
    return session.get_bind().dialect.name


def table_of(row: type[Base]) -> Table:
    """Return the table of a mapped class."""
    return cast(Table, row.__table__)
