"""Writes the value rows of contacts set-wise: what conditions compare (facts 2.2)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Boolean, Executable, Float, String, cast, delete, select
from sqlalchemy.orm import Session

from engine.audience.models import BUILT_IN, ContactPropertyValue
from engine.audience.values import TypedValue, of_text
from engine.core.db import (
    Columns,
    Id,
    Instant,
    Prepared,
    always,
    among,
    dialect_of,
    packed,
    rows_table,
    table_of,
    upsert_of,
)

_VALUE: Final = ("type", "text", "folded", "number", "boolean", "instant")
_VALUE_COLUMNS: Final[Columns] = {
    "workspace_id": Id,
    "contact_id": Id,
    "key": String(),
    "type": String(),
    "text": String(),
    "folded": String(),
    "number": String(),
    "boolean": Boolean(),
    "instant": Instant(),
    "updated_at": Instant(),
}


def write_values(
    session: Session,
    workspace_id: int,
    put: Mapping[int, Mapping[str, TypedValue | None]],
    at: datetime,
) -> None:
    """Put the values of contacts by row id and key, and remove those that are None."""
    rows = []
    gone: dict[str, list[int]] = {}
    for contact_id, values in put.items():
        for key, value in values.items():
            if value is None:
                gone.setdefault(key, []).append(contact_id)
                continue
            rows.append(
                {
                    "workspace_id": workspace_id,
                    "contact_id": contact_id,
                    "key": key,
                    "type": value.type,
                    "text": value.text,
                    "folded": value.folded,
                    "number": value.number,
                    "boolean": value.boolean,
                    "instant": value.instant,
                    "updated_at": at,
                }
            )
    for key, contact_ids in gone.items():
        _remove(session, workspace_id, key, contact_ids)
    if rows:
        _upsert(session, rows)


def _upsert(session: Session, rows: Sequence[Mapping[str, object]]) -> None:
    if dialect_of(session) == "sqlite":
        # Bound one by one: its JSON knows no Infinity and may round.
        _PUT.run_many(session, rows)
    else:
        _PUT.run(session, rows=packed(session, [_spelt(row) for row in rows]))


def _prepare_put(dialect: str) -> Executable:
    statement = upsert_of(dialect, table_of(ContactPropertyValue))
    if dialect != "sqlite":
        rows = rows_table(dialect, _VALUE_COLUMNS)
        columns = {**rows.c, "number": cast(rows.c.number, Float())}
        statement = statement.from_select(
            list(_VALUE_COLUMNS), select(*columns.values()).where(always())
        )
    news = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["workspace_id", "contact_id", "key"],
        set_={name: news[name] for name in (*_VALUE, "updated_at")},
    )


_PUT: Final = Prepared(_prepare_put)


def _spelt(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return the row with its number as text, for JSON knows no Infinity."""
    number = row["number"]
    return {**row, "number": None if number is None else repr(number)}


def _remove(session: Session, workspace_id: int, key: str, contact_ids: Collection[int]) -> None:
    # By key, so that each value is one look-up in the unique index.
    row = ContactPropertyValue
    session.execute(
        delete(row)
        .where(
            row.workspace_id == workspace_id,
            among(session, row.contact_id, contact_ids),
            row.key == key,
        )
        .execution_options(synchronize_session=False)
    )


def built_in(fields: Mapping[str, str | None], source: str | None) -> dict[str, TypedValue | None]:
    """Return the value rows of the built-in fields; `source` never changes after creation."""
    texts = {key: text for key, text in fields.items() if key in BUILT_IN}
    if source is not None:
        texts["source"] = source
    return {key: None if text is None else of_text(text) for key, text in texts.items()}


def of_new(
    fields: Mapping[str, str | None], source: str, values: Mapping[str, TypedValue | None]
) -> dict[str, TypedValue | None]:
    """Return what a new contact has; there is nothing to remove of it."""
    named = {**built_in(fields, source), **values}
    return {key: value for key, value in named.items() if value is not None}
