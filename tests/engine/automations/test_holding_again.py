"""Paused again before the walker came: the newest resume says how people go on (decision A11)."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from engine.automations import holding, service
from engine.automations.models import ACTIVE, PAUSED, Automation, AutomationStepRun
from engine.core.audit import Actor
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.pausing import WISH, live, move
from tests.factories.world import World

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def overdue(world: World) -> Automation:
    """Return an automation on hold; the one person inside has been overdue for a day."""
    greet = {"key": "greet", "type": "update_contact", "config": {"changes": {"last_name": "Hi"}}}
    row = live(world, make.delay("wait", 1), greet, make.delay("more", 1))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    return row


def resume(world: World, row: Automation, choice: str | None) -> service.StatusChange:
    """Resume as chosen; None leaves the choice out."""
    return move(world, row, service.Wish(ACTIVE, resume=choice))


@pytest.mark.parametrize("parked", [True, False], ids=["parked", "not parked"])
@pytest.mark.parametrize("choice", ["shift", "overdue", None])
def test_a_skip_that_another_pause_overtook_is_dropped_by_the_next_choice(
    world: World, choice: str | None, parked: bool
) -> None:
    row = overdue(world)
    resume(world, row, "skip")
    move(world, row, WISH[PAUSED])
    world.clock.advance(HOUR)
    if parked:
        world.walker.sweep()
    assert (world.visits(row)[0].held_at is not None) is parked
    assert resume(world, row, choice).due_now == 1
    assert world.visits(row)[0].result is None
    world.walker.sweep()
    done = [("wait", "completed"), ("greet", "completed"), ("more", "pending")]
    assert world.log(row) == done


def test_a_second_skip_is_the_second_persons(world: World) -> None:
    row = overdue(world)
    resume(world, row, "skip")
    move(world, row, WISH[PAUSED])
    world.walker.sweep()
    with world.uow.begin() as session:
        service.change_status(
            session,
            world.workspace_id,
            row.public_id,
            service.Wish(ACTIVE, resume="skip"),
            Actor("user:second"),
            world.clock.now(),
        )
    world.walker.sweep()
    assert world.log(row) == [("wait", "skipped"), ("greet", "skipped"), ("more", "pending")]
    assert world.visits(row)[0].result == {"skip": "user:second", "reason": holding.OVERDUE}


@pytest.mark.parametrize("choice", ["shift", "overdue"])
def test_what_a_person_wants_skipped_in_this_one_run_stays_so(world: World, choice: str) -> None:
    row = overdue(world)
    mark = {"skip": "user:support", "reason": "asked"}
    with world.uow.begin() as session:
        session.execute(update(AutomationStepRun).values(result=mark))
    resume(world, row, choice)
    assert world.visits(row)[0].result == mark
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    assert world.log(row)[0] == ("wait", "skipped")
