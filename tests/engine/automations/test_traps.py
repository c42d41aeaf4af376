"""The traps of the seed's engine, by their number (facts 9): what is easily built wrong."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import func, select

from engine.automations import queries
from engine.automations.effects import WalkSteps
from engine.automations.kinds.steps.base import Completed
from engine.automations.models import Automation
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World
from tests.fakes.dispatch import RecordingDispatch
from tests.fakes.steps import script

MISSING = "a_value_nobody_ever_wrote"


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def asking(operator: str, value: Any = None) -> dict[str, Any]:
    """Return a branch on a value that the person does not have; yes ends the run."""
    condition = {"kind": "contact_property", "field": MISSING, "operator": operator}
    if value is not None:
        condition["value"] = value
    config = {"condition": condition, "yes": "end", "no": None}
    return {"key": "ask", "type": "condition", "config": config}


def test_t_a1_a_hint_and_a_sweep_at_once_execute_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = script(monkeypatch, Completed())
    automations = [world.live(make.end("only")) for _ in range(10)]
    world.fire()
    ids = [world.visits(automation)[0].id for automation in automations]
    gate = Barrier(2)

    def work(hinted: list[int] | None) -> None:
        walker = StepWalker(world.uow)
        gate.wait(30)
        if hinted is None:
            walker.sweep()
        else:
            walker.walk(hinted)

    with ThreadPoolExecutor(2) as pool:
        for running in [pool.submit(work, hinted) for hinted in (None, ids)]:
            running.result()
    assert sorted(kind.ran) == sorted(ids)
    with world.uow.read() as session:
        assert_books(session)


def test_t_a2_a_hundred_executions_succeed_and_the_next_ends_the_run(world: World) -> None:
    automation = world.live(make.branch("again", yes="again"))
    world.fire()
    world.walker.sweep()
    statuses = [status for _, status in world.log(automation)]
    assert statuses == ["completed"] * 100 + ["failed"]
    run = world.run(automation)
    assert (run.status, run.ended_reason) == ("cancelled", "loop_cap")
    with world.uow.read() as session:
        (step,) = queries.figures_of(
            session, world.workspace_id, automation.id, make.document(make.branch("again"))
        ).steps
        assert (step.completed, step.failed, step.standing) == (100, 1, 0)
        # A loop that was stopped is no failure that the breaker counts.
        failures = select(func.sum(Automation.consecutive_run_failures))
        assert session.scalar(failures) == 0
        assert_books(session)


def test_t_a3_a_branch_to_the_first_step_goes_back_to_it(world: World) -> None:
    automation = world.live(make.delay("first", 1, "minutes"), make.branch("ask", yes="first"))
    world.fire()
    world.clock.advance(timedelta(minutes=1))
    world.walker.sweep()
    assert world.log(automation) == [
        ("first", "completed"),
        ("ask", "completed"),
        ("first", "pending"),
    ]
    assert world.run(automation).current_step_index == 0


def test_t_a3_only_null_means_the_next_step_in_order(world: World) -> None:
    automation = world.live(make.branch("ask", yes=None, no="ask"), make.delay("after"))
    world.fire()
    world.walker.sweep()
    assert world.log(automation) == [("ask", "completed"), ("after", "pending")]


def test_t_a12_a_lost_hint_for_an_immediate_step_is_made_good_by_the_sweep(
    world: World, dispatch: RecordingDispatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = script(monkeypatch, Completed())
    dispatch.broken = True
    automation = world.live(make.end("now"))
    assert world.fire() == 1
    (visit,) = world.visits(automation)
    assert (visit.status, visit.delay_until) == ("pending", None)
    assert dispatch.of(WalkSteps) == []
    world.clock.advance(timedelta(minutes=1))
    world.walker.sweep()
    assert kind.ran == [visit.id]
    assert world.run(automation).status == "completed"


def test_t_a13_a_jump_past_the_end_records_what_it_passed_and_completes(world: World) -> None:
    automation = world.live(
        make.branch("ask", yes="end"), make.delay("one"), make.delay("two"), make.end("three")
    )
    world.fire()
    world.walker.sweep()
    assert world.log(automation) == [
        ("ask", "completed"),
        ("one", "skipped"),
        ("two", "skipped"),
        ("three", "skipped"),
    ]
    assert all(visit.completed_at == world.clock.now() for visit in world.visits(automation))
    run = world.run(automation)
    assert (run.status, run.ended_reason) == ("completed", "finished")
    with world.uow.read() as session:
        assert_books(session)


@pytest.mark.parametrize(
    ("operator", "value", "matched"),
    [
        ("is_false", None, False),
        ("is_true", None, False),
        ("gt", 1, False),
        ("lt", 1, False),
        ("gte", 0, False),
        ("lte", 0, False),
        ("equals", "x", False),
        ("contains", "x", False),
        ("not_equals", "x", True),
        ("not_contains", "x", True),
    ],
)
def test_t_a14_a_missing_value_is_neither_false_nor_a_number(
    world: World, operator: str, value: Any, matched: bool
) -> None:
    automation = world.live(asking(operator, value), make.delay("no_way"))
    world.fire()
    world.walker.sweep()
    expected = [("ask", "completed"), ("no_way", "skipped" if matched else "pending")]
    assert world.log(automation) == expected
