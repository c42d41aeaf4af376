"""The story of a person: what was recorded, newest first, in one order with other rooms' lines."""

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import API, ContactPatch, EventInput, ReceivedEvent
from engine.audience.queries import StoryLine, StoryPlace
from engine.core.events import Event
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT


def test_everything_that_happened_is_a_line_newest_first(session: Session, workspace: int) -> None:
    topic, ada = make.topic(session, workspace, "News"), make.contact(session, workspace)
    make.contact(session, workspace)
    later = AT + timedelta(minutes=1)
    patch = ContactPatch({"first_name": "Ada", "language": "de"})
    service.update_contact(session, workspace, ada.public_id, patch, API, later)
    event = EventInput(
        "trial_started",
        contact_id=ada.public_id,
        event_properties={"plan": "groß"},
        occurred_at=AT,
    )
    received = service.receive_event(session, workspace, event, API, later)
    assert isinstance(received, ReceivedEvent)
    service.subscribe(session, workspace, topic.public_id, ada.public_id, API, later)
    service.unsubscribe(session, workspace, topic.public_id, ada.public_id, API, later)
    service.delete_contact(session, workspace, ada.public_id, make.ACTOR, later)
    lines = queries.story(session, workspace, ada.row_id)
    assert [line.title_code for line in lines] == [
        "contact_deleted",
        "topic_unsubscribed",
        "topic_subscribed",
        "event_received",
        "contact_updated",
        "contact_created",
    ]
    assert {line.kind for line in lines} == {"event"}
    assert lines[1].params == {"source": API, "name": topic.public_id, "topic": "News"}
    assert lines[3].ref == received.event_id
    assert lines[3].params == {
        "source": API,
        "name": "trial_started",
        "properties": '{"plan": "groß"}',
        "occurred_at": AT.isoformat(),
    }
    assert lines[4].params == {"source": API, "changed": "first_name, language"}


def test_pages_split_lines_of_one_instant_without_loss(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace)
    for name in ("a", "b", "c", "d", "e"):
        event = EventInput(name, contact_id=ada.public_id)
        service.receive_event(session, workspace, event, API, AT)
    whole = queries.story(session, workspace, ada.row_id)
    pages: list[StoryLine] = []
    for _ in range(3):
        before = pages[-1].place if pages else None
        pages += queries.story(session, workspace, ada.row_id, before, limit=2)
    assert pages == whole
    assert len(pages) == 6
    assert queries.story(session, workspace, ada.row_id, pages[-1].place) == []


def test_nobody_else_sees_the_story(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace)
    assert queries.story(session, house_of.workspace(session).id, ada.row_id) == []


@pytest.mark.parametrize(
    ("strand", "row_id", "earlier"),
    [
        ("event", 1, True),
        ("event", 2, False),
        ("event", 3, False),
        ("run", 1, False),
        ("audit", 9, True),
    ],
)
def test_lines_of_one_instant_are_ordered_by_strand_then_row(
    session: Session, workspace: int, strand: str, row_id: int, earlier: bool
) -> None:
    before = StoryPlace(AT, "event", 2)
    assert (StoryPlace(AT, strand, row_id) < before) is earlier
    ada = make.contact(session, workspace)
    (line,) = queries.story(session, workspace, ada.row_id)
    moved = StoryPlace(line.at, "event", line.row_id - row_id + 2)
    query = select(Event.id).where(
        Event.workspace_id == workspace,
        queries.earlier(Event.recorded_at, Event.id, strand, moved),
    )
    assert (session.scalars(query).all() == [line.row_id]) is earlier
