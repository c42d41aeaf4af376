"""Re-entry: after the end, once ever, once in N days; exactly, also at the same moment (A15)."""

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete

from engine.automations import service
from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.world import World

DAY = timedelta(days=1)
LIMITS: list[Any] = ["once", {"days": 30}]


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def live(world: World, reentry: Any, *steps: dict[str, Any]) -> Automation:
    with world.uow.begin() as session:
        raw = make.document(*(steps or (make.end("a"),)), reentry=reentry)
        return make.live(session, world.workspace_id, raw, world.clock.now())


def enter_and_leave(world: World) -> int:
    """Fire the trigger, let everybody walk to the end, and return how many had entered."""
    started = world.fire()
    world.walker.sweep()
    return started


def prune(world: World) -> None:
    """Delete every run with its log, as the retention does."""
    with world.uow.begin() as session:
        session.execute(delete(AutomationStepRun))
        session.execute(delete(AutomationRun))


def test_ent_03_after_each_end_the_same_trigger_starts_again(world: World) -> None:
    live(world, "after_end")
    assert [enter_and_leave(world) for _ in range(3)] == [1, 1, 1]


def test_ent_01_who_is_inside_does_not_enter_again(world: World) -> None:
    row = live(world, "after_end", make.delay("a"))
    assert world.fire() == 1
    world.clock.advance(timedelta(seconds=1))
    assert world.fire() == 0
    assert len(world.visits(row)) == 1


def test_once_is_once_ever(world: World) -> None:
    live(world, "once")
    assert enter_and_leave(world) == 1
    world.clock.advance(3_000 * DAY)
    assert enter_and_leave(world) == 0


def test_n_days_bar_to_the_microsecond(world: World) -> None:
    live(world, {"days": 30})
    assert enter_and_leave(world) == 1
    world.clock.advance(30 * DAY - timedelta(microseconds=1))
    assert enter_and_leave(world) == 0
    world.clock.advance(timedelta(microseconds=1))
    assert enter_and_leave(world) == 1
    world.clock.advance(DAY)
    assert enter_and_leave(world) == 0


def test_who_is_still_inside_after_n_days_leaves_no_trace(world: World) -> None:
    row = live(world, {"days": 2}, make.delay("a", 3), make.end("b"))
    assert world.fire() == 1
    world.clock.advance(2 * DAY)
    assert world.fire() == 0
    world.clock.advance(DAY)
    world.walker.sweep()
    assert world.run(row).status == "completed"
    assert world.fire() == 1


@pytest.mark.parametrize("reentry", LIMITS)
def test_an_entry_outlives_its_run(world: World, reentry: Any) -> None:
    live(world, reentry)
    assert enter_and_leave(world) == 1
    prune(world)
    assert enter_and_leave(world) == 0


@pytest.mark.parametrize("pruned", [False, True])
@pytest.mark.parametrize("reentry", LIMITS)
def test_runs_from_before_the_rule_count_too(world: World, reentry: Any, pruned: bool) -> None:
    row = live(world, "after_end")
    assert enter_and_leave(world) == 1
    at = world.clock.now()
    with world.uow.begin() as session:
        place = (session, world.workspace_id, row.public_id)
        raw = make.document(make.end("a"), reentry=reentry)
        service.save(*place, raw, 1, make.ACTOR, at)
        done = service.publish(*place, service.STAY, make.ACTOR, at)
        assert isinstance(done, service.Published)
    if pruned:
        prune(world)
    assert enter_and_leave(world) == 0


@pytest.mark.parametrize("reentry", LIMITS)
def test_one_rule_per_automation(world: World, reentry: Any) -> None:
    live(world, reentry)
    live(world, reentry)
    live(world, "after_end")
    assert [enter_and_leave(world), enter_and_leave(world)] == [3, 1]


@pytest.mark.parametrize("reentry", ["after_end", *LIMITS])
def test_t_a10_twenty_equal_triggers_in_parallel_start_one_run(
    uow: UnitOfWork, clock: FixedClock, reentry: Any
) -> None:
    world = World(uow, clock, people=3)
    row = live(world, reentry, make.delay("a"))
    barrier = threading.Barrier(20)
    started: list[int] = []

    def fire(at: datetime) -> None:
        barrier.wait()
        with uow.begin() as session:
            started.append(make.fire(session, world.workspace_id, world.people, at))

    threads = [threading.Thread(target=fire, args=(clock.now(),)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(started) == 3
    with uow.read() as session:
        assert len(make.runs(session, row)) == 3
