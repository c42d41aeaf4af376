"""When a secret was last used: noted once an hour, and nobody waits for it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from engine.accounts.models import Secret
from engine.accounts.service.secrets import NOTED_EVERY, note_used
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts


@pytest.fixture
def stored(uow: UnitOfWork, clock: FixedClock) -> Sequence[int]:
    """Return two secrets by row."""
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        rows = [
            Secret(
                public_id=f"sec{number}",
                workspace_id=workspace_id,
                name=f"Hook {number}",
                kind="signing",
                sealed="v1.",
                hint="0000",
                created_by="user:test",
                created_at=clock.now(),
            )
            for number in range(2)
        ]
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows]


def used(uow: UnitOfWork) -> list[datetime | None]:
    with uow.read() as session:
        return list(session.scalars(select(Secret.last_used_at).order_by(Secret.id)))


def note(uow: UnitOfWork, rows: Sequence[int], at: datetime) -> None:
    with uow.begin() as session:
        note_used(session, rows, at)


def test_a_use_is_noted_of_that_secret_alone(
    uow: UnitOfWork, clock: FixedClock, stored: Sequence[int]
) -> None:
    note(uow, [], clock.now())
    assert used(uow) == [None, None]
    note(uow, stored[1:], clock.now())
    assert used(uow) == [None, clock.now()]


def test_a_use_within_the_hour_writes_nothing(
    uow: UnitOfWork, clock: FixedClock, stored: Sequence[int]
) -> None:
    first = clock.now()
    note(uow, stored[:1], first)
    note(uow, stored, first + NOTED_EVERY - timedelta(seconds=1))
    assert used(uow) == [first, first + NOTED_EVERY - timedelta(seconds=1)]
    note(uow, stored[:1], first + NOTED_EVERY)
    assert used(uow)[0] == first + NOTED_EVERY
