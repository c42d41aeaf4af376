"""PostgreSQL alone, because SQLite lets nobody write between the look and the write of a settle.

A settle looks without locking; what changes before it writes must not be overrun.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text, update

from engine.automations import run_lifecycle, settling
from engine.automations.models import AutomationRun, AutomationStepRun
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.core.walking import beat
from tests.factories import automations as make
from tests.factories import books
from tests.factories.world import World
from tests.support.waiting import wait_for


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    """Return one workspace with one person."""
    return World(uow, clock)


def between_look_and_write(monkeypatch: pytest.MonkeyPatch, act: Any) -> list[int]:
    """Have `act` happen once after the look of the next settle; return how often it looked."""
    looks: list[int] = []
    original = settling._queue

    def queue(*arguments: Any) -> Any:
        looks.append(1)
        if len(looks) == 1:
            act()
        return original(*arguments)

    monkeypatch.setattr(settling, "_queue", queue)
    return looks


def test_a_run_that_is_stopped_meanwhile_stays_stopped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.branch("a"), make.branch("b"))
    world.fire()

    def stop() -> None:
        with world.uow.begin() as session:
            where = [AutomationRun.automation_id == automation.id]
            reason = run_lifecycle.STOPPED
            assert run_lifecycle.cancel_where(session, where, reason, world.clock.now()) == 1

    between_look_and_write(monkeypatch, stop)
    world.walker.sweep()
    assert world.log(automation) == [("a", "completed")]
    assert world.run(automation).ended_reason == run_lifecycle.STOPPED
    with world.uow.read() as session:
        books.assert_books(session)


def test_a_step_that_another_worker_took_is_left_to_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.branch("a"))
    world.fire()

    def take_over() -> None:
        with world.uow.begin() as session:
            session.execute(
                update(AutomationStepRun).values(
                    attempt=2, due_at=world.clock.now() + timedelta(seconds=60)
                )
            )

    looks = between_look_and_write(monkeypatch, take_over)
    walker = StepWalker(world.uow)
    assert beat(walker, walker.claim(None, 10)) == []
    assert len(looks) == 2  # looked again, and found that nothing was left to write
    assert world.log(automation) == [("a", "executing")]
    assert world.run(automation).status == "running"


def test_who_was_just_moved_on_by_a_settle_is_stopped_with_the_visit_it_made(
    world: World,
) -> None:
    automation = world.live(make.branch("a"), make.delay("wait", 30), make.end("b"))
    world.fire()
    items = world.walker.claim(None, 10)
    outcomes = world.walker.run(items)

    def stop() -> int:
        with world.uow.begin() as session:
            where = [AutomationRun.automation_id == automation.id]
            reason = run_lifecycle.STOPPED
            return run_lifecycle.cancel_where(session, where, reason, world.clock.now())

    def waits() -> bool:
        with world.uow.read() as session:
            asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            return bool(session.scalar(text(asked + " AND datname = current_database()")))

    with ThreadPoolExecutor(1) as pool:
        with world.uow.begin() as session:
            settling.settle(session, items, outcomes, world.clock.now())
            stopping = pool.submit(stop)
            wait_for(waits, "the stop to meet the settle", 20)
        assert stopping.result(20) == 1
    assert world.log(automation) == [("a", "completed"), ("wait", "failed")]
    assert world.run(automation).ended_reason == run_lifecycle.STOPPED
    with world.uow.read() as session:
        books.assert_books(session)
