"""The check of the books finds what it is there to find: each breach is planted once."""

from collections.abc import Callable

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from engine.automations.models import (
    Automation,
    AutomationRun,
    AutomationStatShard,
    AutomationStepRun,
    AutomationStepStat,
)
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import EmailSend
from tests.factories import automations as make
from tests.factories import books, delivery
from tests.factories.world import World


def _mail(session: Session) -> None:
    session.execute(update(AutomationStepRun).values(email_send_id=None))


def _mail_twice(session: Session) -> None:
    mail = session.scalar(select(EmailSend.id))
    session.execute(update(AutomationStepRun).values(email_send_id=mail))


def _shard(session: Session) -> None:
    automation = session.scalars(select(Automation)).one()
    session.execute(
        insert(AutomationStatShard).values(
            workspace_id=automation.workspace_id, automation_id=automation.id, shard=99, entered=5
        )
    )


def _step_stat(session: Session) -> None:
    automation = session.scalars(select(Automation)).one()
    session.execute(
        insert(AutomationStepStat).values(
            workspace_id=automation.workspace_id,
            automation_id=automation.id,
            step_key="wait",
            shard=99,
            pending=-1,
        )
    )


def _runs(**values: object) -> Callable[[Session], None]:
    def plant(session: Session) -> None:
        session.execute(update(AutomationRun).values(values))

    return plant


def _waiting(**values: object) -> Callable[[Session], None]:
    def plant(session: Session) -> None:
        waiting = AutomationStepRun.status == "pending"
        session.execute(update(AutomationStepRun).where(waiting).values(values))

    return plant


def _finished(**values: object) -> Callable[[Session], None]:
    def plant(session: Session) -> None:
        done = AutomationStepRun.status == "completed"
        session.execute(update(AutomationStepRun).where(done).values(values))

    return plant


PLANTS = {
    "a run counted twice": (_shard, "runs"),
    "a visit counted away": (_step_stat, "visits"),
    "a run without an open visit": (_waiting(status="completed"), "has open visits at []"),
    "two open visits": (_finished(status="pending"), "has open visits at [0, 1]"),
    "an open visit of an ended run": (
        _runs(status="cancelled", ended_reason="x"),
        "has ended and has open visits",
    ),
    "a run elsewhere than its visit": (_runs(current_step_index=0), "is at 0"),
    "an end without an instant": (_runs(status="completed"), "do not fit"),
    "a failed step that nobody noted": (
        _runs(status="cancelled", ended_reason="step_failed"),
        "its note of a failed step",
    ),
    "a claim that nobody counted": (_runs(steps_executed=7), "counts 7 steps"),
    "a finished visit without an end": (_finished(completed_at=None), "at no instant"),
    "a lease on a waiting visit": (
        _waiting(lease_until=AutomationStepRun.due_at),
        "pending and has a lease",
    ),
    "a failure without a code": (_finished(status="failed"), "failed without a code"),
    "a mail nobody queued": (_mail, "belongs to 0 visits"),
    "a mail of two visits": (_mail_twice, "belongs to 2 visits"),
}


@pytest.mark.parametrize("planted", PLANTS)
def test_a_planted_breach_is_found(uow: UnitOfWork, clock: FixedClock, planted: str) -> None:
    world = World(uow, clock)
    with uow.begin() as session:
        delivery.sender(session, world.workspace_id)
        template = delivery.template(session, world.workspace_id)
    world.live(make.email("hello", template.public_id), make.delay("wait"))
    world.fire()
    world.walker.sweep()
    plant, words = PLANTS[planted]
    with uow.begin() as session:
        before = set(books.faults(session))
        plant(session)
        found = set(books.faults(session)) - before
    assert any(words in fault for fault in found), found
