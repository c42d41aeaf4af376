"""A pause that cancels, and a Stop: who ends, who is not touched, what feeds the breaker."""

from datetime import timedelta

import pytest

from engine.automations import service
from engine.automations.kinds.steps import STEPS
from engine.automations.models import ACTIVE, PAUSED, Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.pausing import WISH, Failing, live, move
from tests.factories.world import World

DAY = timedelta(days=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def test_t_a4_a_pause_that_cancels_is_invisible_to_who_waits_past_it(world: World) -> None:
    row = live(world, make.delay("wait", 3), make.end("stop"), on_pause="cancel")
    world.fire()
    due = world.clock.now() + 3 * DAY
    world.clock.advance(DAY)
    move(world, row, WISH[PAUSED])
    world.clock.advance(DAY)
    assert move(world, row, WISH[ACTIVE]).people_inside == 1
    assert world.visits(row)[0].due_at == due
    world.clock.advance(DAY)
    world.walker.sweep()
    assert world.run(row).status == "completed"


def test_t_a4_a_pause_that_cancels_ends_who_comes_due(world: World) -> None:
    row = live(world, make.delay("wait", 3), on_pause="cancel")
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(3 * DAY)
    world.walker.sweep()
    assert world.log(row) == [("wait", "failed")]
    run = world.run(row)
    assert (run.status, run.ended_reason) == ("cancelled", "automation_not_active")


def failures(world: World, row: Automation) -> int:
    with world.uow.read() as session:
        found = service.find(session, world.workspace_id, row.public_id)
    assert found is not None
    return found.consecutive_run_failures


def test_t_a5_only_runs_that_exhausted_their_retries_feed_the_breaker(
    uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(uow, clock, people=6)
    waiting = live(world, make.delay("wait", 3), on_pause="cancel")
    looping = live(world, make.branch("ask", yes="ask", no="end"), on_pause="cancel")
    world.fire()
    world.walker.sweep()
    move(world, waiting, WISH[PAUSED])
    world.clock.advance(3 * DAY)
    world.walker.sweep()
    assert world.run(waiting).ended_reason == "automation_not_active"
    assert world.run(looping).ended_reason == "loop_cap"
    assert (failures(world, waiting), failures(world, looping)) == (0, 0)
    monkeypatch.setitem(STEPS._kinds, "end", Failing())
    failing = live(world, make.end("try"))
    world.fire()
    for _ in range(4):
        world.walker.sweep()
        world.clock.advance(timedelta(minutes=1))
    assert world.run(failing).ended_reason == "step_failed"
    assert failures(world, failing) >= 5
    with world.uow.read() as session:
        found = service.find(session, world.workspace_id, failing.public_id)
    assert found is not None
    assert found.status == PAUSED


@pytest.mark.parametrize("before", [ACTIVE, PAUSED])
@pytest.mark.parametrize("on_pause", ["hold", "cancel"])
def test_a_stop_ends_everybody_inside(world: World, before: str, on_pause: str) -> None:
    row = live(world, make.delay("wait", 1), on_pause=on_pause)
    world.fire()
    if before == PAUSED:
        move(world, row, WISH[PAUSED])
        if on_pause == "hold":
            world.clock.advance(2 * DAY)
            world.walker.sweep()
    done = move(world, row, service.Wish(PAUSED, cancel_inside=True))
    assert (done.cancelled, done.people_inside) == (1, 0)
    run = world.run(row)
    assert (run.status, run.ended_reason) == ("cancelled", "stopped")
    assert world.log(row) == [("wait", "failed")]
    assert world.visits(row)[0].held_at is None
