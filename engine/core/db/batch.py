"""A list of rows as a table expression, so that one statement settles a whole batch.

The rows travel as one JSON parameter: one compiled statement for every batch size.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Subquery,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    type_coerce,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session
from sqlalchemy.types import Text, TypeEngine

from engine.core.db.schema import Base

# The SQL type of each column of a batch.
Columns = Mapping[str, TypeEngine[Any]]
_SQLITE_INSTANT: Final = "%Y-%m-%d %H:%M:%S.%f"


def batch_table(session: Session, columns: Columns, rows: Sequence[Mapping[str, Any]]) -> Subquery:
    """Return `rows` as a subquery with the given typed columns; a missing key is NULL.

    Works in SELECT, INSERT … SELECT and UPDATE … FROM on both databases.
    """
    sqlite = session.get_bind().dialect.name == "sqlite"
    payload = json.dumps(
        [{name: _plain(row.get(name), sqlite=sqlite) for name in columns} for row in rows],
        ensure_ascii=False,
    )
    if sqlite:
        each = func.json_each(bindparam(None, payload, type_=Text(), unique=True)).table_valued(
            "value", name="each"
        )
        picked = [
            type_coerce(func.json_extract(each.c.value, f"$.{name}"), kind).label(name)
            for name, kind in columns.items()
        ]
        return select(*picked).select_from(each).subquery("batch")
    record = (
        func.jsonb_to_recordset(cast(bindparam(None, payload, type_=Text(), unique=True), JSONB))
        .table_valued(*(column(name, kind) for name, kind in columns.items()), name="record")
        .render_derived(with_types=True)
    )
    return select(*(record.c[name] for name in columns)).subquery("batch")


def upsert(session: Session, row: type[Base]) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT into `row` that knows ON CONFLICT, of the session's dialect.

    An INSERT … SELECT … ON CONFLICT needs a WHERE in its SELECT (`always()`), or SQLite reads ON as
    a join condition.
    """
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(row)
    return postgresql.insert(row)


def always() -> ColumnElement[bool]:
    """Return a predicate that is true and is really written into the statement."""
    return literal_column("1=1", Boolean())


def _plain(value: Any, *, sqlite: bool) -> Any:
    if isinstance(value, datetime):
        instant = value.astimezone(UTC)
        return instant.strftime(_SQLITE_INSTANT) if sqlite else instant.isoformat()
    return value
