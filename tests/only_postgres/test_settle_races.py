"""PostgreSQL alone, because SQLite lets nobody write between the look and the write of another.

A settle looks without locking, and so does the fan-out; what changes before they write must not be
overrun.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from sqlalchemy import select, text, update

from engine.automations import run_lifecycle, run_records, service, settling
from engine.automations.kinds.steps.base import Deferred
from engine.automations.models import AutomationRun, AutomationStepRun
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.core.walking import beat
from tests.factories import automations as make
from tests.factories import books
from tests.factories.world import World
from tests.fakes.steps import script
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


def test_who_is_put_off_while_the_run_is_stopped_waits_for_nothing_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, Deferred(world.clock.now() + timedelta(days=7)))
    automation = world.live(make.end("a"))
    world.fire()

    def stop() -> None:
        with world.uow.begin() as session:
            where = [AutomationRun.automation_id == automation.id]
            run_lifecycle.cancel_where(session, where, run_lifecycle.STOPPED, world.clock.now())

    between_look_and_write(monkeypatch, stop)
    world.walker.sweep()
    assert world.log(automation) == [("a", "failed")]
    with world.uow.read() as session:
        books.assert_books(session)


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


@pytest.mark.parametrize("entered", [True, False])
def test_a_stop_leaves_nobody_inside_who_was_just_entering(
    world: World, monkeypatch: pytest.MonkeyPatch, entered: bool
) -> None:
    automation = world.live(make.delay("wait"))
    arrived, go_on = Event(), Event()
    original = run_records.create_runs

    def create_runs(session: Any, birth: Any, rows: Any) -> Any:
        if entered:
            made = original(session, birth, rows)
        arrived.set()
        assert go_on.wait(30)
        return made if entered else original(session, birth, rows)

    monkeypatch.setattr(run_records, "create_runs", create_runs)
    with ThreadPoolExecutor(2) as threads:
        firing = threads.submit(world.fire)
        assert arrived.wait(30)
        stopping = threads.submit(stop, world, automation.public_id)
        if entered:
            wait_for(lambda: waits_for_a_lock(world), "the Stop to wait")
        else:
            stopping.result(30)
        go_on.set()
        assert firing.result(30) == int(entered)
        assert stopping.result(30).cancelled == int(entered)
    with world.uow.read() as session:
        statuses = session.scalars(select(AutomationRun.status)).all()
        assert list(statuses) == (["cancelled"] if entered else [])
        books.assert_books(session)


def stop(world: World, public_id: str) -> service.StatusChange:
    """Pause and cancel everybody inside, as the API does."""
    wish = service.Wish("paused", cancel_inside=True)
    with world.uow.begin() as session:
        changed = service.change_status(
            session, world.workspace_id, public_id, wish, make.ACTOR, world.clock.now()
        )
    assert isinstance(changed, service.StatusChange)
    return changed


def waits_for_a_lock(world: World) -> bool:
    """Return whether some transaction of this database waits for another."""
    query = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with world.uow.read() as session:
        return bool(session.scalar(query))
