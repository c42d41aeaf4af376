"""A step that says "not now": the same visit comes again, and nothing was tried."""

from datetime import timedelta
from typing import Final

import pytest
from sqlalchemy import func, select

from engine.automations import run_lifecycle
from engine.automations.kinds.steps.base import Completed, Deferred, Failed
from engine.automations.models import Automation, AutomationStepRun, AutomationStepStat
from engine.automations.run_lifecycle import MAX_EXECUTIONS
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World
from tests.fakes.steps import script

HOUR: Final = timedelta(hours=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def visit_of(world: World, automation: Automation) -> AutomationStepRun:
    """Return the one visit there is; the books are right."""
    with world.uow.read() as session:
        assert_books(session)
    [visit] = world.visits(automation)
    return visit


def test_a_visit_that_is_put_off_waits_and_comes_again_as_the_same_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = world.clock.now() + HOUR
    kind = script(monkeypatch, Deferred(until, {"opens": "10:00"}), Completed())
    automation = world.live(make.end("call"))
    world.fire()
    world.walker.sweep()
    visit, run = visit_of(world, automation), world.run(automation)
    assert (visit.status, visit.due_at, visit.delay_until) == ("pending", until, until)
    assert (visit.result, visit.lease_until) == ({"opens": "10:00"}, None)
    assert (run.status, run.next_step_at, run.steps_executed) == ("running", until, 0)
    world.clock.advance(HOUR)
    world.walker.sweep()
    assert kind.ran == [visit.id] * 2
    assert visit_of(world, automation).status == "completed"
    assert world.run(automation).steps_executed == 1


def test_to_be_put_off_to_now_is_due_at_once_and_no_wait(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, Deferred(world.clock.now()), Completed())
    automation = world.live(make.end("call"))
    world.fire()
    visit = world.visits(automation)[0]
    world.walker.walk([visit.id])
    visit = visit_of(world, automation)
    assert (visit.status, visit.due_at) == ("pending", world.clock.now())
    assert (visit.delay_until, world.run(automation).next_step_at) == (None, None)
    world.walker.sweep()
    assert visit_of(world, automation).status == "completed"


def test_however_often_it_is_put_off_it_keeps_its_four_tries(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = world.clock.now()
    put_off = [Deferred(now)] * 9
    kind = script(monkeypatch, *put_off, Failed("NO", "no"), *put_off, Failed("NO", "no"))
    automation = world.live(make.end("call"))
    world.fire()
    for _ in range(30):
        world.walker.sweep()
        world.clock.advance(timedelta(seconds=30))
    visit = visit_of(world, automation)
    assert (visit.status, world.run(automation).ended_reason) == ("failed", "step_failed")
    assert [each["attempt"] for each in visit.failures or []] == [1, 2, 3, 4]
    assert len(kind.ran) == 18 + MAX_EXECUTIONS


def test_a_worker_of_an_earlier_round_writes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, Deferred(world.clock.now()))
    automation = world.live(make.end("call"))
    world.fire()
    [late] = world.walker.claim(None, 1)
    world.walker.settle([late], {late.id: Deferred(world.clock.now())})
    [newer] = world.walker.claim(None, 1)
    assert newer.attempt > late.attempt
    assert (newer.tries, newer.visit.attempt, newer.visit.key) == (1, 1, late.visit.key)
    for answer in (Completed(), Deferred(world.clock.now()), Failed("NO", "no")):
        world.walker.settle([late], {late.id: answer})
        assert visit_of(world, automation).status == "executing"
    world.walker.settle([newer], {newer.id: Completed()})
    assert visit_of(world, automation).status == "completed"


def test_a_stop_reaches_who_was_put_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, Deferred(world.clock.now() + HOUR))
    automation = world.live(make.end("call"))
    world.fire()
    world.walker.sweep()
    with world.uow.begin() as session:
        run_lifecycle.cancel_where(session, [], run_lifecycle.STOPPED, world.clock.now())
    visit = visit_of(world, automation)
    assert (visit.status, visit.error_code) == ("failed", "RUN_ENDED")
    with world.uow.read() as session:
        assert session.scalars(select(func.sum(AutomationStepStat.pending))).one() == 0
