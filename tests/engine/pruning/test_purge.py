"""The purge: a person deleted a month ago leaves no row, and the totals stay."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from engine import pruning
from engine.audience.models import Contact, ContactPropertyValue, Suppression, TopicMembership
from engine.audience.service import delete_contact
from engine.automations import pruning as automations
from engine.automations.models import (
    AutomationEntry,
    AutomationRun,
    AutomationStepRun,
)
from engine.core.clock import FixedClock
from engine.core.events import Event
from engine.core.ids import new_public_id
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import QUEUED, SENT, EmailSend
from tests.engine.pruning.forgetting import count, sent, totals
from tests.factories import audience
from tests.factories import automations as make
from tests.factories.world import World


def leave(world: World, who: int = 0) -> int:
    """Delete a person of the world; return its row id."""
    with world.uow.begin() as session:
        person = world.people[who]
        delete_contact(session, world.workspace_id, person.public_id, make.ACTOR, world.clock.now())
        return person.row_id


def everything(session: Session, contact_id: int) -> dict[str, int]:
    """Return how many rows of each table still name a person."""
    named: Sequence[Any] = (
        AutomationRun, AutomationEntry, EmailSend, Event, TopicMembership, ContactPropertyValue,
    )  # fmt: skip
    counted = {
        row.__tablename__: session.scalar(
            select(func.count()).select_from(row).where(row.contact_id == contact_id)
        )
        or 0
        for row in named
    }
    people = select(func.count()).select_from(Contact).where(Contact.id == contact_id)
    return {name: many for name, many in counted.items() if many} | (
        {"contacts": 1} if session.scalar(people) else {}
    )


def test_a_person_deleted_a_month_ago_leaves_no_row_and_the_totals_stay(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=2)
    live_for_ever(world)
    before = totals(uow)
    gone, stays = leave(world), world.people[1].row_id
    clock.advance(timedelta(days=30))
    assert pruning.purge(uow) == {"contacts": 0}
    with uow.read() as session:
        assert set(everything(session, gone)) >= {
            "contacts", "automation_runs", "automation_entries", "email_sends", "events",
        }  # fmt: skip
        kept = everything(session, stays)
    clock.advance(timedelta(seconds=1))
    assert pruning.purge(uow) == {"contacts": 1}
    with uow.read() as session:
        assert everything(session, gone) == {}
        assert everything(session, stays) == kept
        assert session.scalars(select(Suppression.email)).all() == ["ada@people.example"]
    assert totals(uow) == before
    assert pruning.purge(uow) == {"contacts": 0}


def live_for_ever(world: World) -> None:
    """Let everybody have walked an automation, got a mail, and joined a topic."""
    with world.uow.begin() as session:
        topic = audience.topic(session, world.workspace_id)
        for person in world.people:
            sent(session, world, person.row_id)
            session.add(
                TopicMembership(
                    workspace_id=world.workspace_id, topic_id=topic.row_id,
                    contact_id=person.row_id, source="api", created_at=world.clock.now(),
                )
            )  # fmt: skip
        session.add(
            Suppression(
                workspace_id=world.workspace_id, public_id=new_public_id(), reason="manual",
                email="ada@people.example", source="api", created_at=world.clock.now(),
            )
        )  # fmt: skip
    automation = world.walk_once(make.end("a"), make.end("b"))
    with world.uow.begin() as session:
        for person in world.people:
            session.add(
                AutomationEntry(
                    workspace_id=world.workspace_id, automation_id=automation.id,
                    contact_id=person.row_id, entered_at=world.clock.now(),
                )
            )  # fmt: skip


def test_somebody_with_a_mail_under_way_waits_for_another_day(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    gone = leave(world)
    with uow.begin() as session:
        waiting = sent(session, world, gone, QUEUED).id
    clock.advance(timedelta(days=31))
    assert pruning.purge(uow) == {"contacts": 0}
    with uow.begin() as session:
        automations_of_nobody = automations.forget_people(session, world.workspace_id, [gone])
        assert automations_of_nobody == 0
        session.execute(update(EmailSend).where(EmailSend.id == waiting).values(sent_now()))
    assert pruning.purge(uow) == {"contacts": 1}


def sent_now() -> dict[str, str]:
    """Return the status of a mail that has left."""
    return {"status": SENT}


def test_many_deleted_people_go_slice_by_slice(
    uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.audience.service.purging.PEOPLE", 3)
    world = World(uow, clock, people=8)
    world.walk_once(make.end("a"))
    for who in range(7):
        leave(world, who)
    clock.advance(timedelta(days=31))
    assert pruning.purge(uow) == {"contacts": 7}
    assert count(uow, Contact) == 1
    assert (count(uow, AutomationRun), count(uow, AutomationStepRun)) == (1, 1)


def test_a_part_that_fails_leaves_whole_slices_behind(
    uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(uow, clock, people=2)
    live_for_ever(world)
    leave(world)
    leave(world, 1)
    clock.advance(timedelta(days=31))
    with monkeypatch.context() as patched:
        patched.setattr("engine.audience.service.purging.delete_all", _fail)
        with pytest.raises(ConnectionError):
            pruning.purge(uow)
    assert count(uow, Contact) == 2
    assert pruning.purge(uow) == {"contacts": 2}


def _fail(*_arguments: object) -> int:
    raise ConnectionError("gone")
