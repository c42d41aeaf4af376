"""The one door of a status: product events per real transition, none where nothing moved."""

from dataclasses import replace
from datetime import datetime
from typing import Final

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations import lifecycle, service
from engine.automations.models import ACTIVE, DRAFT, PAUSED, Automation
from engine.core.audit import Actor, system
from engine.core.clock import FixedClock
from engine.core.machine import Change, Machine, transition
from engine.core.outbox import ProductEvent
from engine.core.outcome import Recorded, Refused, Transitioned
from tests.factories import accounts
from tests.factories import automations as make


def _reduce(row: Automation, ask: lifecycle.Ask, at: datetime) -> Change | Refused:
    """Let everything happen but a start without steps, and name an event for it."""
    if ask.to == ACTIVE and ask.steps == 0:
        return Refused("no_steps")
    return Change({"updated_at": at}, f"automation.{ask.to}", product_event=f"told_{ask.to}")


TELLING: Final[Machine[Automation, lifecycle.Ask]] = replace(lifecycle.MACHINE, reduce=_reduce)
BREAKER: Final = system("automation-breaker")


@pytest.fixture
def draft(session: Session, clock: FixedClock) -> Automation:
    """Return a stored draft."""
    workspace = accounts.workspace(session)
    raw = make.document(make.delay("a"))
    saved = service.create(session, workspace.id, raw, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    row = service.find(session, workspace.id, saved.public_id)
    assert row is not None
    return row


def ask(
    session: Session, row: Automation, to: str, actor: Actor = BREAKER, steps: int = 1
) -> Transitioned | Recorded | Refused:
    """Ask for a status through the telling machine."""
    return transition(session, TELLING, row.id, lifecycle.Ask(to, steps), actor, row.updated_at)


def told(session: Session) -> list[ProductEvent]:
    """Return the product events in the order written."""
    session.flush()
    return list(session.scalars(select(ProductEvent).order_by(ProductEvent.id)))


def test_each_real_transition_tells_once_whoever_acted(session: Session, draft: Automation) -> None:
    assert ask(session, draft, ACTIVE, make.ACTOR) == Transitioned(DRAFT, ACTIVE)
    assert ask(session, draft, PAUSED) == Transitioned(ACTIVE, PAUSED)
    events = told(session)
    assert [(event.name, event.actor) for event in events] == [
        ("told_active", make.ACTOR.name),
        ("told_paused", "system:automation-breaker"),
    ]
    assert events[1].properties == {
        "automation_id": draft.public_id,
        "previous_status": ACTIVE,
        "new_status": PAUSED,
    }
    assert {event.due_at for event in events} == {event.occurred_at for event in events}


def test_a_self_loop_tells_nothing(session: Session, draft: Automation) -> None:
    assert ask(session, draft, DRAFT) == Recorded(DRAFT)
    assert told(session) == []


def test_a_refusal_tells_nothing(session: Session, draft: Automation) -> None:
    assert ask(session, draft, PAUSED) == Refused("illegal_edge")
    assert ask(session, draft, ACTIVE, steps=0) == Refused("no_steps")
    assert told(session) == []
