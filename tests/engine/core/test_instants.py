"""Instants are moved inside a statement, to the microsecond."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from engine.core.db import Instant
from engine.core.db.instants import later

HOURS = timedelta(hours=1) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("start", "moved"),
    [
        (datetime(2026, 3, 29, 0, 59, 59, 999_999, tzinfo=UTC), 1),
        (datetime(2026, 2, 28, 23, 0, 0, 5, tzinfo=UTC), 24 * HOURS),
        (datetime(2026, 1, 1, tzinfo=UTC), 3_650 * 24 * HOURS + 7),
        (datetime(2026, 1, 1, 0, 0, 0, 3, tzinfo=UTC), -4),
        (datetime(2026, 1, 1, 12, tzinfo=UTC), 0),
    ],
)
def test_an_instant_is_moved_to_the_microsecond(
    session: Session, start: datetime, moved: int
) -> None:
    found = session.scalar(select(later(session, literal(start, Instant()), moved)))
    assert found == start + timedelta(microseconds=moved)
