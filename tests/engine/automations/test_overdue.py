"""For how many people the time of a step has come, while their automation is paused."""

from datetime import timedelta

import pytest

from engine.automations.models import PAUSED, Automation
from engine.automations.overdue import count_overdue
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.pausing import WISH, live, move
from tests.factories.world import World

DAY = timedelta(days=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=3)


def overdue(world: World, row: Automation, most: int | None = None) -> int | None:
    with world.uow.read() as session:
        return count_overdue(session, world.workspace_id, row.id, world.clock.now(), most)


def enter(world: World, *persons: int) -> None:
    """Let some of the people in, by their place."""
    with world.uow.begin() as session:
        who = [world.people[place] for place in persons]
        make.fire(session, world.workspace_id, who, world.clock.now())


def test_who_is_due_and_who_is_parked_are_counted_and_who_waits_is_not(world: World) -> None:
    row = live(world, make.delay("wait", 2))
    live(world, make.delay("other", 1))
    enter(world, 0)
    world.clock.advance(DAY)
    enter(world, 1)
    move(world, row, WISH[PAUSED])
    assert overdue(world, row) == 0
    world.clock.advance(DAY)
    assert overdue(world, row) == 1
    world.walker.sweep()
    assert world.visits(row)[0].held_at is not None
    assert overdue(world, row) == 1
    world.clock.advance(DAY)
    assert overdue(world, row) == 2


def test_above_so_many_people_nobody_counts(world: World) -> None:
    row = live(world, make.delay("wait", 1))
    enter(world, 0, 1, 2)
    world.clock.advance(DAY)
    assert (overdue(world, row, most=3), overdue(world, row, most=2)) == (3, None)
