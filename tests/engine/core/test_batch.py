"""A batch of rows as one parameter: types survive, on both databases."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import Boolean, Float, String, select
from sqlalchemy.orm import Session

from engine.core.db import Columns, Id, Instant, batch_table, json_type

COLUMNS: Columns = {
    "id": Id,
    "name": String(),
    "share": Float(),
    "flag": Boolean(),
    "at": Instant(),
    "data": json_type(),
}
AT = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)


def test_every_type_comes_back_as_it_went(session: Session) -> None:
    row = {
        "id": 2**40,
        "name": "Jürgen 'quoted' \\ 🚂",
        "share": 0.1,
        "flag": True,
        "at": AT,
        "data": {"ä": [1, None, {"b": False}]},
    }
    table = batch_table(session, COLUMNS, [row])
    found = session.execute(select(table)).one()
    assert found._asdict() == row


def test_a_missing_key_is_null(session: Session) -> None:
    table = batch_table(session, COLUMNS, [{"id": 1}, {"id": 2, "data": None}])
    found = session.execute(select(table).where(table.c.data.is_(None))).all()
    assert [(row.id, row.name, row.at, row.data) for row in found] == [
        (1, None, None, None),
        (2, None, None, None),
    ]


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_a_batch_has_any_length(session: Session, count: int) -> None:
    table = batch_table(session, {"id": Id}, [{"id": number} for number in range(count)])
    assert len(session.execute(select(table)).all()) == count
