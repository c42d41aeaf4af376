"""The walker on real rows: claim, retries, guards, cap, branches; each effect once."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from engine.audience.models import Contact
from engine.automations import service
from engine.automations.effects import WalkSteps
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import Completed, Failed, StepKind, Visit
from engine.automations.kinds.steps.delay import DelayStep
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.world import World
from tests.fakes.dispatch import RecordingDispatch


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


class Scripted(StepKind[Any, Any]):
    """A step whose outcome a test decides; counts its executions."""

    Config = DelayStep.Config

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes, self.executions = list(outcomes), 0

    def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Any:
        self.executions += len(visits)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return {visit.id: outcome for visit in visits}


def script(monkeypatch: pytest.MonkeyPatch, *outcomes: Any) -> Scripted:
    """Make every `end` step a scripted one."""

    kind = Scripted(*outcomes)
    monkeypatch.setitem(STEPS._kinds, "end", kind)
    return kind


def test_a_wait_passes_before_the_step_and_the_run_ends(world: World) -> None:
    automation = world.live(make.delay("wait", 3, "days"), make.delay("more", 1.5, "hours"))
    assert world.fire() == 1
    start = world.clock.now()
    run = world.run(automation)
    assert run.next_step_at == start + timedelta(days=3)
    assert world.walker.sweep() == {"walked": 0, "lapsed": 0, "unreadable": 0, "hinted": 0}
    world.clock.advance(timedelta(days=3))
    world.walker.sweep()
    assert world.log(automation) == [("wait", "completed"), ("more", "pending")]
    world.clock.advance(timedelta(hours=1.5))
    world.walker.sweep()
    run = world.run(automation)
    assert (run.status, run.ended_reason, run.steps_executed) == ("completed", "finished", 2)
    assert run.completed_at == world.clock.now()


def test_a_branch_goes_by_the_person_and_writes_skipped_rows(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=2)
    automation = world.live(make.branch("ask", yes="last"), make.end("skipped"), make.end("last"))
    world.fire()
    world.walker.sweep()
    with uow.read() as session:
        logs = [
            [(visit.step_key, visit.status) for visit in make.visits(session, run)]
            for run in make.runs(session, automation)
        ]
        first = make.visits(session, make.runs(session, automation)[0])[0]
    assert logs == [
        [("ask", "completed"), ("skipped", "skipped"), ("last", "completed")],
        [("ask", "completed"), ("skipped", "completed"), ("last", "skipped")],
    ]
    assert first.result is not None
    assert (first.result["branch"], first.result["found"]) == ("yes", "Ada")


def test_exactly_one_hundred_executions_then_the_cap(world: World) -> None:
    automation = world.live(make.branch("again", yes="again"))
    world.fire()
    world.walker.sweep()
    run = world.run(automation)
    statuses = [status for _, status in world.log(automation)]
    assert statuses == ["completed"] * 100 + ["failed"]
    assert (run.status, run.ended_reason) == ("cancelled", "loop_cap")
    last = world.visits(automation)[-1]
    assert last.error_message == (
        "Automation exceeded 100 step executions — cancelled to prevent a loop"
    )


def test_a_step_is_tried_four_times_after_1_5_and_30_seconds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.end("a"))
    kind = script(monkeypatch, Failed("NO", "no"))
    world.fire()
    for seconds in (1, 5, 30):
        world.walker.sweep()
        visit = world.visits(automation)[0]
        assert visit.status == "executing"
        assert visit.due_at == world.clock.now() + timedelta(seconds=seconds)
        assert visit.lease_until is None
        world.clock.advance(timedelta(seconds=seconds))
    world.walker.sweep()
    visit, run = world.visits(automation)[0], world.run(automation)
    assert (visit.status, visit.attempt, visit.error_code) == ("failed", 4, "NO")
    assert [entry["attempt"] for entry in visit.failures or []] == [1, 2, 3, 4]
    assert (run.status, run.ended_reason, run.steps_executed) == ("cancelled", "step_failed", 1)
    assert kind.executions == 4


def test_a_step_that_raises_is_an_ordinary_failure_and_recovers(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.end("a"))
    script(monkeypatch, ValueError("ada@person.example"), Completed())
    world.fire()
    world.walker.sweep()
    world.clock.advance(timedelta(seconds=1))
    world.walker.sweep()
    visit = world.visits(automation)[0]
    assert (visit.status, visit.attempt) == ("completed", 2)
    assert [entry["code"] for entry in visit.failures or []] == ["STEP_CRASHED"]


def test_one_item_s_fault_is_not_the_batch_s(
    uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(uow, clock, people=4)
    automation = world.live(make.end("a"))

    class Moody(Scripted):
        def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Any:
            if any(visit.contact_id == world.people[2].row_id for visit in visits):
                raise RuntimeError("this one")
            return super().run(visits, facts)

    monkeypatch.setitem(STEPS._kinds, "end", Moody(Completed()))
    world.fire()
    world.walker.sweep()
    with uow.read() as session:
        statuses = [run.status for run in make.runs(session, automation)]
    assert statuses == ["completed", "completed", "running", "completed"]


def test_a_paused_automation_ends_a_run_at_its_next_step(world: World) -> None:
    automation = world.live(make.delay("wait", 3, "days"))
    world.fire()
    _move(world, automation, "paused")
    assert world.run(automation).status == "running"
    world.clock.advance(timedelta(days=3))
    world.walker.sweep()
    run, visit = world.run(automation), world.visits(automation)[0]
    assert (run.status, run.ended_reason) == ("cancelled", "automation_not_active")
    assert (visit.status, visit.error_message) == ("failed", "Automation is no longer active")
    with world.uow.read() as session:
        row = session.get_one(Automation, automation.id)
        assert row.consecutive_run_failures == 0


def test_a_pause_that_ends_before_the_step_is_due_is_not_noticed(world: World) -> None:
    automation = world.live(make.delay("wait", 3, "days"))
    world.fire()
    _move(world, automation, "paused")
    world.clock.advance(timedelta(days=2))
    _move(world, automation, "active")
    world.clock.advance(timedelta(days=1))
    world.walker.sweep()
    assert world.run(automation).status == "completed"


def test_a_lapsed_lease_counts_as_an_execution(world: World) -> None:
    automation = world.live(make.end("a"))
    world.fire()
    for attempt in range(1, 5):
        items = (
            world.walker.claim(None, 10)
            if attempt == 1
            else world.walker._claim(None, 1, ("lapsed",))
        )
        assert [item.attempt for item in items] == [attempt]
        world.clock.advance(timedelta(seconds=121))
    world.walker.sweep()
    visit, run = world.visits(automation)[0], world.run(automation)
    assert (visit.status, visit.error_code) == ("failed", "LEASE_LOST")
    assert (run.status, run.ended_reason) == ("cancelled", "step_failed")


def test_a_worker_that_lost_its_lease_writes_nothing(world: World) -> None:
    automation = world.live(make.delay("a", 1, "minutes"), make.delay("b"))
    world.fire()
    world.clock.advance(timedelta(minutes=1))
    slow = world.walker.claim(None, 10)
    world.clock.advance(timedelta(seconds=121))
    world.walker.sweep()
    assert world.walker.settle(slow, {slow[0].id: Failed("LATE", "late")}) == []
    assert world.log(automation) == [("a", "completed"), ("b", "pending")]


def test_a_doubled_hint_executes_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    automation = world.live(make.end("a"))
    kind = script(monkeypatch, Completed())
    world.fire()
    ids = [world.visits(automation)[0].id]
    world.walker.walk(ids)
    world.walker.walk(ids)
    assert kind.executions == 1


def test_a_deleted_contact_s_run_is_cancelled_as_removed(world: World) -> None:
    automation = world.live(make.delay("wait"))
    world.fire()
    with world.uow.begin() as session:
        session.execute(update(Contact).values(deleted_at=world.clock.now()))
    world.clock.advance(timedelta(days=1))
    world.walker.sweep()
    run = world.run(automation)
    assert (run.status, run.ended_reason) == ("cancelled", "removed")


def test_deleting_the_automation_cancels_who_is_inside(world: World) -> None:
    automation = world.live(make.delay("wait"))
    world.fire()
    _move(world, automation, "paused")
    with world.uow.begin() as session:
        cancelled = service.remove(
            session, world.workspace_id, automation.public_id, make.ACTOR, world.clock.now()
        )
    assert cancelled == 1
    run = world.run(automation)
    assert (run.status, run.ended_reason) == ("cancelled", "automation_deleted")
    assert world.log(automation) == [("wait", "failed")]


def test_only_what_is_due_before_the_next_sweep_gets_a_hint(
    world: World, dispatch: RecordingDispatch
) -> None:
    world.live(make.delay("soon", 0.5, "minutes"))
    world.live(make.delay("late", 2, "minutes"))
    world.fire()
    hints = dispatch.of(WalkSteps)
    assert [hint.due_at for hint in hints] == [world.clock.now() + timedelta(seconds=30)]


def test_a_sweep_hints_what_becomes_due_before_the_next_one(
    world: World, dispatch: RecordingDispatch
) -> None:
    world.live(make.delay("wait", 10, "minutes"))
    world.fire()
    assert dispatch.of(WalkSteps) == []
    due = world.clock.now() + timedelta(minutes=10)
    world.clock.advance(timedelta(minutes=8, seconds=59))
    assert world.walker.sweep()["hinted"] == 0
    world.clock.advance(timedelta(seconds=1))
    assert world.walker.sweep()["hinted"] == 1
    assert [hint.due_at for hint in dispatch.of(WalkSteps)] == [due]


def _move(world: World, automation: Automation, to: str) -> None:
    with world.uow.begin() as session:
        service.move(
            session,
            world.workspace_id,
            automation.public_id,
            service.Wish(to),
            make.ACTOR,
            world.clock.now(),
        )


def test_a_kind_that_crashes_has_no_other_kind_run_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    calling = Scripted(Completed())
    monkeypatch.setitem(STEPS._kinds, "delay", calling)
    crashing = script(monkeypatch, ValueError("broken"))
    both = [world.live(make.delay("call")), world.live(make.end("crash"))]
    assert world.fire() == 2
    world.walker.walk([world.visits(automation)[0].id for automation in both])
    assert (calling.executions, crashing.executions) == (1, 1)
