"""Notes on runs: which step failed for good, and that somebody should look at it."""

from datetime import timedelta

import pytest

from engine.automations import run_lifecycle
from engine.automations.claim_lifecycle import LEASE
from engine.automations.kinds.steps.base import Completed, Failed
from engine.automations.models import Automation, AutomationRun
from engine.automations.run_lifecycle import MAX_EXECUTIONS
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World
from tests.fakes.steps import script


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=2)


def notes(world: World, automation: Automation) -> list[tuple[object, ...]]:
    """Return the note of each run, oldest first; the books are right as well."""
    with world.uow.read() as session:
        assert_books(session)
        return [
            (run.failed_step_key, run.error_code, run.error_message, run.attention_at)
            for run in make.runs(session, automation)
        ]


def walk_to_the_end(world: World) -> None:
    for _ in range(MAX_EXECUTIONS):
        world.walker.sweep()
        world.clock.advance(timedelta(seconds=30))


def test_every_run_of_a_batch_says_which_step_failed_for_good_and_since_when(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.delay("wait", 1, "minutes"), make.end("call"))
    script(monkeypatch, Failed("NO", "no such thing"))
    world.fire()
    world.clock.advance(timedelta(minutes=1))
    begun = world.clock.now()
    walk_to_the_end(world)
    after = begun + timedelta(seconds=30 * (MAX_EXECUTIONS - 1))
    assert notes(world, automation) == [("call", "NO", "no such thing", after)] * 2


def test_a_step_that_recovers_and_a_run_that_finishes_leave_no_note(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.end("call"))
    script(monkeypatch, Failed("NO", "no"), Completed())
    world.fire()
    walk_to_the_end(world)
    assert world.run(automation).status == "completed"
    assert notes(world, automation) == [(None, None, None, None)] * 2


def test_a_worker_lost_four_times_is_noted_like_any_other_failure(world: World) -> None:
    automation = world.live(make.end("call"))
    world.fire()
    world.walker.claim(None, 10)
    for _ in range(MAX_EXECUTIONS - 1):
        world.clock.advance(LEASE)
        while world.walker._claim(None, 1, ("lapsed",)):
            pass
    world.clock.advance(LEASE)
    world.walker.sweep()
    words = ("call", "LEASE_LOST", "The worker was lost while executing the step")
    assert notes(world, automation) == [(*words, world.clock.now())] * 2


def test_a_run_that_was_stopped_while_its_step_failed_is_nobody_s_to_look_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.end("call"))
    script(monkeypatch, Failed("NO", "no"))
    world.fire()
    for _ in range(MAX_EXECUTIONS - 1):
        world.walker.sweep()
        world.clock.advance(timedelta(seconds=30))
    late = world.walker.claim(None, 10)
    answers = world.walker.run(late)
    with world.uow.begin() as session:
        where = [AutomationRun.automation_id == automation.id]
        run_lifecycle.cancel_where(session, where, run_lifecycle.STOPPED, world.clock.now())
    world.walker.settle(late, answers)
    assert notes(world, automation) == [(None, None, None, None)] * 2
