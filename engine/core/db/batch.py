"""A list of rows as a table expression, so that one statement settles a whole batch.

The rows travel as one JSON parameter: one compiled statement for every batch size.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from typing import cast as typing_cast

from sqlalchemy import (
    ARRAY,
    BindParameter,
    Boolean,
    ColumnElement,
    Subquery,
    Table,
    any_,
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

from engine.core.db.prepared import dialect_of
from engine.core.db.schema import Base

# The SQL type of each column of a batch.
Columns = Mapping[str, TypeEngine[Any]]
_SQLITE_INSTANT: Final = "%Y-%m-%d %H:%M:%S.%f"


def batch_table(session: Session, columns: Columns, rows: Sequence[Mapping[str, Any]]) -> Subquery:
    """Return `rows` as a subquery with the given typed columns; a missing key is NULL.

    rows: dicts of JSON values and aware instants; keys that are no columns are left out.

    Works in SELECT, INSERT … SELECT and UPDATE … FROM on both databases.
    """
    payload = bindparam(None, packed(session, rows), type_=Text(), unique=True)
    return _rows(dialect_of(session), columns, payload)


def rows_table(dialect: str, columns: Columns, name: str = "rows") -> Subquery:
    """Return `batch_table` for a prepared statement: the rows come as bind `name`, `packed`."""
    return _rows(dialect, columns, bindparam(name, type_=Text()))


def packed(session: Session, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the one value that a `rows_table` reads."""
    # Keys that are no columns do no harm, and copying each row costs more than all of the rest.
    spell = _sqlite_instant if dialect_of(session) == "sqlite" else _iso_instant
    # What is no number is no JSON: SQLite would call it an error like that of a file that is away.
    return json.dumps(
        rows, ensure_ascii=False, default=spell, check_circular=False, allow_nan=False
    )


def _rows(dialect: str, columns: Columns, payload: BindParameter[str]) -> Subquery:
    if dialect == "sqlite":
        each = func.json_each(payload).table_valued("value", name="each")
        picked = [
            type_coerce(func.json_extract(each.c.value, f"$.{name}"), kind).label(name)
            for name, kind in columns.items()
        ]
        return select(*picked).select_from(each).subquery("batch")
    record = (
        func.jsonb_to_recordset(cast(payload, JSONB))
        .table_valued(*(column(name, kind) for name, kind in columns.items()), name="record")
        .render_derived(with_types=True)
    )
    return select(*(record.c[name] for name in columns)).subquery("batch")


def among(session: Session, column: Any, values: Collection[Any]) -> ColumnElement[bool]:
    """Return the predicate "`column` is one of `values`" with all values in one parameter.

    Unlike `in_` the statement is the same for every number of values: it is compiled, and planned
    by the server, once.
    """
    kind = Text() if dialect_of(session) == "sqlite" else ARRAY(column.type)
    listed = bindparam(None, many(session, values), type_=kind, unique=True)
    return _one_of(dialect_of(session), column, listed)


def among_bound(dialect: str, column: Any, name: str = "ids") -> ColumnElement[bool]:
    """Return `among` for a prepared statement: the values come as bind `name`, from `many`."""
    kind = Text() if dialect == "sqlite" else ARRAY(column.type)
    return _one_of(dialect, column, bindparam(name, type_=kind))


def many(session: Session, values: Collection[Any]) -> str | list[Any]:
    """Return values as the one value that an `among_bound` reads."""
    return json.dumps(list(values)) if dialect_of(session) == "sqlite" else list(values)


def _one_of(dialect: str, column: Any, listed: BindParameter[Any]) -> ColumnElement[bool]:
    if dialect == "sqlite":
        each = func.json_each(listed).table_valued("value", name="wanted")
        return typing_cast(ColumnElement[bool], column.in_(select(each.c.value)))
    return typing_cast(ColumnElement[bool], column == any_(listed))


def upsert(session: Session, row: type[Base]) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT into `row` that knows ON CONFLICT, of the session's dialect.

    An INSERT … SELECT … ON CONFLICT needs a WHERE in its SELECT (`always()`), or SQLite reads ON as
    a join condition.
    """
    return upsert_of(dialect_of(session), row)


def upsert_of(dialect: str, row: type[Base] | Table) -> "sqlite.Insert | postgresql.Insert":
    """Return `upsert` for a prepared statement."""
    return sqlite.insert(row) if dialect == "sqlite" else postgresql.insert(row)


def always() -> ColumnElement[bool]:
    """Return a predicate that is true and is really written into the statement."""
    return literal_column("1=1", Boolean())


@lru_cache(maxsize=256)
def _sqlite_instant(value: datetime) -> str:
    return value.astimezone(UTC).strftime(_SQLITE_INSTANT)


# A batch bears the same few instants over and over.
@lru_cache(maxsize=256)
def _iso_instant(value: datetime) -> str:
    return value.isoformat()
