"""Writes the value rows of contacts set-wise: what conditions compare (facts 2.2)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Boolean, Float, String, cast, delete, select
from sqlalchemy.orm import Session

from engine.audience.models import ContactPropertyValue
from engine.audience.values import TypedValue
from engine.core.db import Columns, Id, Instant, always, among, batch_table, upsert

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
    statement, parameters = upsert(session, ContactPropertyValue), None
    if session.get_bind().dialect.name == "sqlite":
        parameters = rows  # bound one by one: its JSON knows no Infinity and may round
    else:
        batch = batch_table(session, _VALUE_COLUMNS, [_spelt(row) for row in rows])
        columns = {**batch.c, "number": cast(batch.c.number, Float())}
        statement = statement.from_select(
            list(_VALUE_COLUMNS), select(*columns.values()).where(always())
        )
    news = statement.excluded
    session.connection().execute(
        statement.on_conflict_do_update(
            index_elements=["workspace_id", "contact_id", "key"],
            set_={name: news[name] for name in (*_VALUE, "updated_at")},
        ),
        parameters,
    )


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
