"""Events of outside programs (facts 1.4): checks, look-up, creation, what they start."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import API, EventInput, ReceivedEvent
from engine.core import events
from engine.core.db import scope
from engine.core.events import Event, RecordedEvent
from engine.core.outcome import Refused
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT

EMAIL = "ada@people.example"


@pytest.fixture
def batches() -> Iterator[list[list[str]]]:
    """Start one run per event, and return the kinds of each batch that was recorded."""
    heard: list[list[str]] = []

    def start(_session: Session, batch: Sequence[RecordedEvent], _at: datetime) -> Counter[int]:
        heard.append([each.event.kind for each in batch])
        return Counter({each.id: 1 for each in batch})

    events.subscribe("test", start)
    yield heard
    events.subscribe("test", lambda _session, _batch, _at: Counter())


def receive(session: Session, workspace: int, **sent: Any) -> ReceivedEvent | Refused:
    event = EventInput(**{"event_name": "trial_started", **sent})
    return service.receive_event(session, workspace, event, API, AT)


def received(answer: ReceivedEvent | Refused) -> ReceivedEvent:
    assert isinstance(answer, ReceivedEvent), answer
    return answer


def test_an_event_of_a_known_contact_is_recorded(
    session: Session, workspace: int, batches: list[list[str]]
) -> None:
    ada = make.contact(session, workspace, EMAIL)
    batches.clear()
    properties = {"plan": "pro", "seats": 3, "paid": False, "note": None, "größe": 1.5}
    answer = received(
        receive(session, workspace, email=" ADA@people.example ", event_properties=properties)
    )
    assert answer.contact_id == ada.public_id
    assert (answer.triggered_automations, answer.contact_created) == (1, False)
    assert batches == [["event_received"]]
    row = session.execute(
        select(Event.kind, Event.name, Event.data, Event.source, Event.occurred_at).where(
            Event.workspace_id == workspace, Event.public_id == answer.event_id
        )
    ).one()
    assert tuple(row) == (
        "event_received",
        "trial_started",
        {"event_properties": properties},
        API,
        AT,
    )


def test_an_event_without_properties_has_none(session: Session, workspace: int) -> None:
    make.contact(session, workspace, EMAIL)
    answer = received(receive(session, workspace, email=EMAIL))
    stored = select(Event.data).where(
        Event.workspace_id == workspace, Event.public_id == answer.event_id
    )
    assert session.scalars(stored).one() == {}


def test_one_event_can_create_the_contact_and_start_two_runs(
    session: Session, workspace: int, batches: list[list[str]]
) -> None:
    scope(session, workspace)
    answer = received(receive(session, workspace, email=EMAIL, create_contact_if_not_exists=True))
    assert (answer.triggered_automations, answer.contact_created) == (2, True)
    assert batches == [["contact_created", "event_received"]]
    found = queries.find_by_email(session, workspace, EMAIL)
    assert found is not None
    assert found.public_id == answer.contact_id


def test_a_known_contact_is_not_created_again(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace, EMAIL)
    answer = received(receive(session, workspace, email=EMAIL, create_contact_if_not_exists=True))
    assert (answer.contact_id, answer.contact_created) == (ada.public_id, False)


def test_an_unknown_contact_is_missing_unless_asked_for(session: Session, workspace: int) -> None:
    gone = make.contact(session, workspace, EMAIL)
    service.delete_contact(session, workspace, gone.public_id, make.ACTOR, AT)
    missing = Refused("contact_not_found", "missing")
    foreign = make.contact(session, house_of.workspace(session).id)
    assert receive(session, workspace, email=EMAIL) == missing
    for contact_id in (gone.public_id, foreign.public_id, "nobody", "a\x00b"):
        asked = {"contact_id": contact_id, "create_contact_if_not_exists": True}
        assert receive(session, workspace, **asked) == missing


def test_a_contact_may_be_named_by_id(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace, EMAIL)
    for email in (None, EMAIL.upper()):
        answer = receive(session, workspace, contact_id=ada.public_id, email=email)
        assert received(answer).contact_id == ada.public_id
    other = receive(session, workspace, contact_id=ada.public_id, email="grace@people.example")
    assert other == Refused("identity_conflict", params={"id": ada.public_id})


@pytest.mark.parametrize("at", [AT - timedelta(days=400), AT + timedelta(hours=23)])
def test_an_event_keeps_its_own_time(session: Session, workspace: int, at: datetime) -> None:
    make.contact(session, workspace, EMAIL)
    answer = received(receive(session, workspace, email=EMAIL, occurred_at=at))
    stored = select(Event.occurred_at, Event.recorded_at).where(
        Event.workspace_id == workspace, Event.public_id == answer.event_id
    )
    assert tuple(session.execute(stored).one()) == (at, AT)


@pytest.mark.parametrize(
    ("sent", "pointer", "code"),
    [
        ({"email": None}, "/email", "required"),
        ({"email": "ada"}, "/email", "invalid_email"),
        ({"email": "ada@people.example\nx"}, "/email", "invalid_email"),
        ({"event_name": ""}, "/event_name", "invalid_event_name"),
        ({"event_name": "1st"}, "/event_name", "invalid_event_name"),
        ({"event_name": "trial started"}, "/event_name", "invalid_event_name"),
        ({"event_name": "trial_started\n"}, "/event_name", "invalid_event_name"),
        ({"event_name": "größe"}, "/event_name", "invalid_event_name"),
        ({"event_name": "a" * 101}, "/event_name", "invalid_event_name"),
        ({"event_properties": {"a/b": {}}}, "/event_properties/a~1b", "not_a_primitive"),
        ({"event_properties": {"a": [1]}}, "/event_properties/a", "not_a_primitive"),
        ({"event_properties": {"a": "x\x00"}}, "/event_properties/a", "invalid_value"),
        ({"event_properties": {"a": "\ud800"}}, "/event_properties/a", "invalid_value"),
        ({"event_properties": {"a": float("inf")}}, "/event_properties/a", "invalid_value"),
        ({"event_properties": {"a": 2**63}}, "/event_properties/a", "invalid_value"),
        ({"event_properties": {"a": "x" * 10_001}}, "/event_properties/a", "too_long"),
        ({"event_properties": {"": 1}}, "/event_properties", "invalid_key"),
        ({"event_properties": {"a\x00": 1}}, "/event_properties", "invalid_key"),
        (
            {"event_properties": {f"k{each}": 1 for each in range(201)}},
            "/event_properties",
            "too_many",
        ),
        ({"occurred_at": AT + timedelta(days=2)}, "/occurred_at", "in_the_future"),
        ({"occurred_at": datetime(1969, 12, 31, tzinfo=UTC)}, "/occurred_at", "too_long_ago"),
    ],
)
def test_a_faulty_event_is_refused_and_stores_nothing(
    session: Session, workspace: int, sent: dict[str, Any], pointer: str, code: str
) -> None:
    asked = {"email": EMAIL, "create_contact_if_not_exists": True, **sent}
    answer = receive(session, workspace, **asked)
    assert isinstance(answer, Refused)
    assert (answer.reason, answer.kind) == ("invalid_event", "invalid")
    assert [(each.pointer, each.code) for each in answer.problems] == [(pointer, code)]
    assert queries.page_contacts(session, workspace) == ([], None)


@pytest.mark.parametrize("name", ["a", "Trial-Started_2", "A" * 100])
def test_a_proper_event_name_is_taken(session: Session, workspace: int, name: str) -> None:
    ada = make.contact(session, workspace, EMAIL)
    answer = received(receive(session, workspace, email=EMAIL, event_name=name))
    assert answer.contact_id == ada.public_id
