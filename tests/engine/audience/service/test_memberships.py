"""Membership of topics by facts 3.4 and 3.5."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import API, Subscription, Unsubscription
from engine.audience.models import Contact, TopicMembership
from engine.core import events
from engine.core.db import scope
from engine.core.events import Event, RecordedEvent
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT


def topic_events(session: Session, workspace: int) -> list[tuple[str, str | None]]:
    rows = session.execute(
        select(Event.kind, Event.name)
        .where(Event.workspace_id == workspace, Event.kind.like("topic%"))
        .order_by(Event.id)
    )
    return [(row.kind, row.name) for row in rows]


def opt_out(session: Session, workspace: int) -> None:
    session.execute(
        update(Contact).where(Contact.workspace_id == workspace).values(unsubscribed_at=AT)
    )


def opted_out(session: Session, workspace: int, public_id: str) -> bool:
    contact = queries.get_contact(session, workspace, public_id)
    assert contact is not None
    return contact.unsubscribed_at is not None


def test_an_open_topic_subscribes_at_once(session: Session, workspace: int) -> None:
    topic, ada = make.topic(session, workspace), make.contact(session, workspace)
    opt_out(session, workspace)
    answer = service.subscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
    assert answer == Subscription("subscribed")
    assert topic_events(session, workspace) == [("topic_subscribed", topic.public_id)]
    assert not opted_out(session, workspace, ada.public_id)
    (membership,) = queries.memberships(session, workspace, ada.public_id)
    assert (membership.topic_id, membership.pending, membership.source) == (
        topic.public_id,
        False,
        API,
    )


def test_double_opt_in_stores_a_pending_row_that_starts_nothing(
    session: Session, workspace: int
) -> None:
    topic = make.topic(session, workspace, require_double_opt_in=True)
    ada = make.contact(session, workspace)
    opt_out(session, workspace)
    answer = service.subscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
    assert answer == Subscription("pending_doi")
    assert topic_events(session, workspace) == [("topic_pending", topic.public_id)]
    assert opted_out(session, workspace, ada.public_id)
    (membership,) = queries.memberships(session, workspace, ada.public_id)
    assert membership.pending


@pytest.mark.parametrize("double", [True, False])
def test_subscribing_twice_is_one_membership(
    session: Session, workspace: int, double: bool
) -> None:
    topic = make.topic(session, workspace, require_double_opt_in=double)
    ada = make.contact(session, workspace)
    service.subscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
    before = topic_events(session, workspace)
    again = service.subscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
    assert again == Subscription("already_member")
    assert topic_events(session, workspace) == before
    assert len(queries.page_members(session, workspace, topic.public_id)[0]) == 1


def test_many_are_answered_one_by_one(session: Session, workspace: int) -> None:
    topic = make.topic(session, workspace)
    ada, grace, gone = (make.contact(session, workspace) for _ in range(3))
    foreign = make.contact(session, house_of.workspace(session).id)
    service.delete_contact(session, workspace, gone.public_id, make.ACTOR, AT)
    service.subscribe(session, workspace, topic.public_id, grace.public_id, API, AT)
    missing = Refused("contact_not_found", "missing")
    asked = [person.row_id for person in (ada, grace, gone, foreign, ada)]
    assert service.subscribe_many(session, workspace, topic.public_id, asked, API, AT) == {
        ada.row_id: Subscription("subscribed"),
        grace.row_id: Subscription("already_member"),
        gone.row_id: missing,
        foreign.row_id: missing,
    }
    assert len(topic_events(session, workspace)) == 2
    assert service.unsubscribe_many(session, workspace, topic.public_id, asked, API, AT) == {
        ada.row_id: Unsubscription("unsubscribed"),
        grace.row_id: Unsubscription("unsubscribed"),
        gone.row_id: missing,
        foreign.row_id: missing,
    }
    assert queries.page_members(session, workspace, topic.public_id)[0] == []


def test_an_unknown_topic_is_missing_for_everybody(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace)
    foreign = make.topic(session, house_of.workspace(session).id)
    missing = Refused("topic_not_found", "missing")
    for topic_id in (foreign.public_id, "nothing", "a\x00b"):
        people = [ada.row_id, 0]
        for act in (service.subscribe_many, service.unsubscribe_many):
            answers = act(session, workspace, topic_id, people, API, AT)
            assert answers == {ada.row_id: missing, 0: missing}
        for person in (ada.public_id, "nobody"):
            left = service.unsubscribe(session, workspace, topic_id, person, API, AT)
            assert left == missing


def test_leaving_deletes_the_row_and_is_told_once(session: Session, workspace: int) -> None:
    topic, ada = make.topic(session, workspace), make.contact(session, workspace)
    scope(session, workspace)
    service.subscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
    answers = [
        service.unsubscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
        for _ in range(2)
    ]
    assert answers == [Unsubscription("unsubscribed"), Unsubscription("not_member")]
    assert topic_events(session, workspace) == [
        ("topic_subscribed", topic.public_id),
        ("topic_unsubscribed", topic.public_id),
    ]
    assert queries.memberships(session, workspace, ada.public_id) == []
    missing = service.unsubscribe(session, workspace, topic.public_id, "nobody", API, AT)
    assert missing == Refused("contact_not_found", "missing")


@pytest.fixture
def told() -> Iterator[list[tuple[str, bool]]]:
    """Return what a subscriber of the events is told: kind and whether automations may start."""
    heard: list[tuple[str, bool]] = []

    def listen(_session: Session, batch: Sequence[RecordedEvent], _at: datetime) -> Counter[int]:
        heard.extend((each.event.kind, each.event.start_automations) for each in batch)
        return Counter()

    events.subscribe("test", listen)
    yield heard
    events.subscribe("test", lambda _session, _batch, _at: Counter())


def test_a_bulk_write_may_start_nothing(
    session: Session, workspace: int, told: list[tuple[str, bool]]
) -> None:
    topic, ada = make.topic(session, workspace), make.contact(session, workspace)
    told.clear()
    service.subscribe_many(
        session, workspace, topic.public_id, [ada.row_id], API, AT, start_automations=False
    )
    assert told == [("topic_subscribed", False)]


def test_joining_leaving_and_deleting_at_once_do_not_wait_in_a_circle(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = house_of.workspace(session).id
        topic = make.topic(session, workspace).public_id
        rows = [make.contact(session, workspace).row_id for _ in range(40)]
    acts: list[Callable[[Session], object]] = [
        lambda session: service.subscribe_many(session, workspace, topic, rows, API, AT),
        lambda session: service.unsubscribe_many(session, workspace, topic, rows[::-1], API, AT),
        lambda session: service.subscribe_many(session, workspace, topic, rows[::-1], API, AT),
        lambda session: service.delete_topic(session, workspace, topic, make.ACTOR, AT),
    ]

    def hand(number: int) -> None:
        with uow.begin() as session:
            acts[number](session)

    with ThreadPoolExecutor(len(acts)) as hands:
        list(hands.map(hand, range(len(acts))))
    with uow.read() as session:
        assert session.scalars(select(TopicMembership)).all() == []
        assert queries.get_topic(session, workspace, topic) is None
