"""The global opt-out (facts 3.5): every topic at once, once told, for whoever has the address."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import API
from engine.audience.models import Contact, TopicMembership
from engine.audience.service.opting_out import PUBLIC_EMAIL_LINK, OptedOut, opt_out
from engine.core.events import Event
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import audience as make
from tests.factories.accounts import AT

LATER = AT + timedelta(days=1)


def told(session: Session, contact_id: int) -> list[tuple[str, str | None]]:
    rows = session.execute(
        select(Event.kind, Event.name)
        .where(Event.contact_id == contact_id, Event.recorded_at == LATER)
        .order_by(Event.id)
    )
    return sorted((row.kind, row.name or "") for row in rows)


def leave(session: Session, workspace: int, public_id: str) -> OptedOut | Refused:
    return opt_out(session, workspace, public_id, PUBLIC_EMAIL_LINK, LATER)


def test_an_opt_out_leaves_every_topic_and_tells_of_each(session: Session, workspace: int) -> None:
    ada, bob = make.contact(session, workspace), make.contact(session, workspace)
    topics = [make.topic(session, workspace) for _ in range(2)]
    topics.append(make.topic(session, workspace, require_double_opt_in=True))
    for topic in topics:
        people = [ada.row_id, bob.row_id]
        service.subscribe_many(session, workspace, topic.public_id, people, API, AT)
    assert leave(session, workspace, ada.public_id) == OptedOut(already=False, topics=3)
    assert told(session, ada.row_id) == sorted(
        [("unsubscribed", ""), *(("topic_unsubscribed", topic.public_id) for topic in topics)]
    )
    row = queries.get_contact(session, workspace, ada.public_id)
    assert row is not None
    assert row.unsubscribed_at == row.updated_at == LATER
    others = session.scalars(select(TopicMembership.contact_id)).all()
    assert list(others) == [bob.row_id] * 3
    assert told(session, bob.row_id) == []


def test_an_opt_out_without_topics_and_once_more(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace)
    assert leave(session, workspace, ada.public_id) == OptedOut(already=False, topics=0)
    again = opt_out(session, workspace, ada.public_id, API, LATER + timedelta(days=1))
    assert again == OptedOut(already=True, topics=0)
    row = queries.get_contact(session, workspace, ada.public_id)
    assert row is not None
    assert row.unsubscribed_at == row.updated_at == LATER
    assert told(session, ada.row_id) == [("unsubscribed", "")]


def test_a_later_subscription_takes_it_back(session: Session, workspace: int) -> None:
    ada, topic = make.contact(session, workspace), make.topic(session, workspace)
    leave(session, workspace, ada.public_id)
    service.subscribe(session, workspace, topic.public_id, ada.public_id, API, LATER)
    row = queries.get_contact(session, workspace, ada.public_id)
    assert row is not None
    assert row.unsubscribed_at is None
    assert leave(session, workspace, ada.public_id) == OptedOut(already=False, topics=1)


def test_a_deleted_person_opts_out_with_whoever_has_the_address_since(
    session: Session, workspace: int
) -> None:
    gone = make.contact(session, workspace, "kim@people.example")
    service.delete_contact(session, workspace, gone.public_id, make.ACTOR, AT)
    back = make.contact(session, workspace, "kim@people.example")
    bystander = make.contact(session, workspace)
    assert leave(session, workspace, gone.public_id) == OptedOut(already=False, topics=0)
    found = session.execute(select(Contact.id, Contact.unsubscribed_at))
    assert {row.id: row.unsubscribed_at is not None for row in found} == {
        gone.row_id: True,
        back.row_id: True,
        bystander.row_id: False,
    }


@pytest.mark.parametrize("public_id", ["nobody", "", "%00", "x" * 41])
def test_nobody_is_refused(session: Session, workspace: int, public_id: str) -> None:
    assert leave(session, workspace, public_id) == Refused("contact_not_found", "missing")


def test_another_workspace_cannot_opt_somebody_out(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace)
    other = accounts.workspace(session, "Other").id
    session.flush()
    with_another = opt_out(session, other, ada.public_id, API, LATER)
    assert with_another == Refused("contact_not_found", "missing")


def test_two_clicks_at_once_are_told_once(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        ada, topic = make.contact(session, workspace), make.topic(session, workspace)
        service.subscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
    start = Barrier(4)

    def click(_number: int) -> OptedOut | Refused:
        start.wait()
        with uow.begin(workspace) as session:
            return leave(session, workspace, ada.public_id)

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(click, range(4)))
    assert sorted(answer == OptedOut(already=True, topics=0) for answer in answers) == [
        False,
        True,
        True,
        True,
    ]
    with uow.read() as session:
        assert told(session, ada.row_id) == [
            ("topic_unsubscribed", topic.public_id),
            ("unsubscribed", ""),
        ]
