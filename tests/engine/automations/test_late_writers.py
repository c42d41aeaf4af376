"""A worker that comes too late writes nothing, and a finished step is never left half finished."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from engine.automations import run_lifecycle, run_records
from engine.automations.kinds.steps.base import Completed
from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import EmailSend
from tests.factories import automations as make
from tests.factories import delivery as mails
from tests.factories.world import World

LEASE = timedelta(seconds=120)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def mailing(world: World) -> Automation:
    """Return a live automation of two mails."""
    with world.uow.begin() as session:
        mails.sender(session, world.workspace_id)
        template = mails.template(session, world.workspace_id, allow_repeat=True).public_id
    return world.live(make.email("first", template), make.email("second", template))


def mailed(world: World) -> int:
    with world.uow.read() as session:
        return session.scalar(select(func.count()).select_from(EmailSend)) or 0


def test_an_answer_of_an_older_try_is_dropped_while_the_newer_one_is_at_work(world: World) -> None:
    automation = mailing(world)
    world.fire()
    late = world.walker.claim(None, 10)
    answers = world.walker.run(late)
    world.clock.advance(LEASE)
    with world.uow.begin() as session:
        session.execute(
            update(AutomationStepRun).values(
                attempt=AutomationStepRun.attempt + 1, lease_until=world.clock.now() + LEASE
            )
        )
    assert world.walker.settle(late, answers) == []
    [visit] = world.visits(automation)
    assert (visit.status, visit.attempt, visit.email_send_id) == ("executing", 2, None)
    assert mailed(world) == 0


def test_a_run_that_was_ended_meanwhile_stays_ended_and_mails_nobody(world: World) -> None:
    automation = mailing(world)
    world.fire()
    late = world.walker.claim(None, 10)
    answers = world.walker.run(late)
    run_id = world.run(automation).id
    with world.uow.begin() as session:
        where = [AutomationRun.id == run_id]
        ended = run_lifecycle.cancel_where(session, where, "stopped", world.clock.now())
    assert ended == 1
    world.walker.settle(late, answers)
    run = world.run(automation)
    assert (run.status, run.ended_reason, run.current_step_index) == ("cancelled", "stopped", 0)
    assert world.log(automation) == [("first", "failed")]
    assert mailed(world) == 0


def test_a_step_is_finished_together_with_what_follows_or_not_at_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = mailing(world)
    world.fire()
    late = world.walker.claim(None, 10)
    answers = world.walker.run(late)
    assert all(isinstance(answer, Completed) for answer in answers.values())

    def cut(*_asked: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(run_records, "create_step_runs", cut)
        with pytest.raises(KeyboardInterrupt):
            world.walker.settle(late, answers)
    assert world.log(automation) == [("first", "executing")]
    assert mailed(world) == 0
    world.clock.advance(LEASE)
    world.walker.sweep()
    assert world.log(automation) == [("first", "completed"), ("second", "completed")]
    assert world.run(automation).status == "completed"
    assert mailed(world) == 2
