"""A worker that dies, or whose writes fail, leaves nothing stuck, doubled or begun anew.

Field reports STK-15, STK-16, STK-18, RAC-03.
"""

from datetime import timedelta

import pytest

from engine.automations import settling
from engine.automations.claim_lifecycle import LEASE
from engine.automations.kinds.steps.base import Completed
from engine.automations.run_lifecycle import MAX_EXECUTIONS
from engine.automations.walker import StepWalker
from engine.core import faults
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World
from tests.fakes.steps import script

LAPSED = LEASE + timedelta(seconds=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def die(walker: StepWalker, point: str) -> None:
    """Let a worker vanish at a fault point on its first pass."""
    faults.arm(faults.Trap(point, 1, faults.CRASH))
    try:
        with pytest.raises(faults.Crash):
            walker.sweep()
    finally:
        faults.disarm()


def test_stk_15_a_step_of_a_dead_worker_is_never_executing_for_ten_minutes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = script(monkeypatch, Completed())
    automation = world.live(make.end("only"))
    world.fire()
    die(world.walker, "walk.ran")
    begun = world.clock.now()
    assert world.log(automation) == [("only", "executing")]
    while world.log(automation) == [("only", "executing")]:
        world.clock.advance(timedelta(minutes=1))
        StepWalker(world.uow).sweep()
    assert world.log(automation) == [("only", "completed")]
    assert world.clock.now() - begun <= timedelta(minutes=10)
    assert len(kind.ran) == 2
    with world.uow.read() as session:
        assert_books(session)


def test_stk_16_a_fault_right_after_the_claim_executes_the_step_exactly_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = script(monkeypatch, Completed())
    automation = world.live(make.end("only"))
    world.fire()
    die(world.walker, "walk.claimed")
    assert kind.ran == []
    world.walker.sweep()
    assert (kind.ran, world.log(automation)) == ([], [("only", "executing")])
    world.clock.advance(LAPSED)
    world.walker.sweep()
    assert kind.ran == [world.visits(automation)[0].id]
    assert (world.log(automation), world.run(automation).status) == (
        [("only", "completed")],
        "completed",
    )


def test_stk_18_a_writer_that_always_fails_ends_after_four_executions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = script(monkeypatch, Completed())
    automation = world.live(make.end("only"))
    world.fire()

    def broken(*_arguments: object) -> None:
        raise ArithmeticError("the writer is broken")

    with monkeypatch.context() as patched:
        patched.setattr(settling, "settle", broken)
        for attempt in range(1, MAX_EXECUTIONS + 1):
            with pytest.raises(ArithmeticError):
                world.walker.sweep()
            assert world.visits(automation)[0].attempt == attempt
            world.clock.advance(LAPSED)
        for _ in range(5):
            world.walker.sweep()
            world.clock.advance(LAPSED)
    visit, run = world.visits(automation)[0], world.run(automation)
    assert len(kind.ran) == MAX_EXECUTIONS
    assert (visit.status, visit.error_code) == ("failed", "LEASE_LOST")
    assert (run.status, run.ended_reason) == ("cancelled", "step_failed")
    with world.uow.read() as session:
        assert_books(session)


def test_rac_03_another_worker_goes_on_at_the_step_the_first_one_died_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = script(monkeypatch, Completed())
    automation = world.live(make.end("a"), make.delay("wait", 1), make.end("b"), make.end("c"))
    world.fire()
    world.walker.sweep()
    world.clock.advance(timedelta(days=1))
    # Passes of a claim until `b` stands claimed: the wait itself, then `b`.
    faults.arm(faults.Trap("walk.claimed", 2, faults.CRASH))
    try:
        with pytest.raises(faults.Crash):
            world.walker.sweep()
    finally:
        faults.disarm()
    assert world.log(automation)[-1] == ("b", "executing")
    world.clock.advance(LAPSED)
    StepWalker(world.uow).sweep()
    assert world.log(automation) == [(key, "completed") for key in ("a", "wait", "b", "c")]
    ran = [visit.id for visit in world.visits(automation) if visit.step_key != "wait"]
    assert kind.ran == ran
