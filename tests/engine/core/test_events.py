"""Recording: one transaction, every subscriber, rows in order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.core import events
from engine.core.clock import FixedClock
from engine.core.events import Event, NewEvent, RecordedEvent
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience


@pytest.fixture
def heard() -> Iterator[list[Sequence[RecordedEvent]]]:
    """Return what a subscriber of this test was told; each event "starts" one run."""
    batches: list[Sequence[RecordedEvent]] = []

    def listen(_s: Session, batch: Sequence[RecordedEvent], _at: datetime) -> Counter[int]:
        batches.append(batch)
        return Counter(recorded.id for recorded in batch)

    events.subscribe("test", listen)
    yield batches
    events._subscribers.pop("test")


def test_a_batch_is_written_and_told_once(
    session: Session, clock: FixedClock, heard: list[Sequence[RecordedEvent]]
) -> None:
    workspace = accounts.workspace(session)
    person = audience.contact(session, workspace.id)
    heard.clear()
    batch = [
        NewEvent(workspace.id, person.row_id, "event_received", "api", clock.now(), name)
        for name in ("first", "second")
    ]
    recording = events.record(session, batch, clock.now())
    assert [recorded.event.name for recorded in recording.events] == ["first", "second"]
    assert heard == [recording.events]
    assert recording.started.total() == 2
    rows = {row.id: row for row in session.scalars(select(Event))}
    assert [rows[recorded.id].name for recorded in recording.events] == ["first", "second"]
    assert all(recorded.public_id.startswith("evt_") for recorded in recording.events)


def test_a_subscriber_that_raises_takes_the_event_along(
    uow: UnitOfWork, clock: FixedClock, heard: list[Sequence[RecordedEvent]]
) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        person = audience.contact(session, workspace_id).row_id
    heard.clear()

    def fail(*_: object) -> Counter[int]:
        raise RuntimeError("no")

    events.subscribe("test", fail)
    event = NewEvent(workspace_id, person, "event_received", "api", clock.now(), "lost")
    with pytest.raises(RuntimeError), uow.begin() as session:
        events.record(session, [event], clock.now())
    with uow.read() as session:
        assert session.scalars(select(Event.id).where(Event.name == "lost")).all() == []


def test_nothing_to_record_asks_nobody(
    session: Session, clock: FixedClock, heard: list[Sequence[RecordedEvent]]
) -> None:
    assert events.record(session, [], clock.now()).events == ()
    assert heard == []
