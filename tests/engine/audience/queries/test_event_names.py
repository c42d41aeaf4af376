"""Names of events seen lately: of this workspace, of the newest, at a bounded cost."""

import pytest
from sqlalchemy.orm import Session

from engine.audience import service
from engine.audience.inputs import API, EventInput, ReceivedEvent
from engine.audience.queries import event_names
from engine.audience.queries.event_names import names_seen
from engine.core.db import scope
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.web.counting import counting


def _happens(session: Session, workspace: int, *names: str) -> None:
    person = make.contact(session, workspace).public_id
    for name in names:
        event = EventInput(name, contact_id=person)
        assert isinstance(service.receive_event(session, workspace, event, API, AT), ReceivedEvent)


def test_names_of_events_are_told_once_in_order_and_nothing_but_them(
    session: Session, workspace: int
) -> None:
    other = house_of.workspace(session).id
    _happens(session, workspace, "paid", "Trial_started", "paid")
    _happens(session, other, "secret_plan")
    make.topic(session, workspace, "News")
    scope(session, workspace)
    assert names_seen(session, workspace) == sorted(["Trial_started", "paid"])
    assert len(names_seen(session, workspace, limit=1)) == 1


def test_only_the_newest_are_looked_through(
    session: Session, workspace: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _happens(session, workspace, "long_ago", *["later"] * 12)
    monkeypatch.setattr(event_names, "LOOKED_AT", 12)
    engine = session.connection().engine
    with counting(engine) as asked:
        assert names_seen(session, workspace) == ["later"]
    assert asked.count == 1
