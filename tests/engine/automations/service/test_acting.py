"""A person's acts on one run or many: each act in each state, the books right after every one."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select

from engine.automations import service
from engine.automations.models import PAUSED, Automation
from engine.automations.service.acting import Done
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.acting import act, books, breaking, broken, fail, mend
from tests.factories.pausing import move
from tests.factories.world import World
from tests.fakes.dispatch import RecordingDispatch

DAY = timedelta(days=1)
STEPS = (make.delay("wait", 3), make.branch("who", yes="last", no=None), make.delay("mid", 1))
LAST = make.end("last")


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def waiting(world: World) -> Automation:
    """Somebody waits for three days."""
    row = world.live(*STEPS, LAST)
    world.fire()
    return row


def between_tries(world: World) -> Automation:
    """A step has failed once and is tried again in a second."""
    row = breaking(world, *STEPS, LAST)
    world.fire()
    world.walker.sweep()
    return row


def executed(world: World) -> Automation:
    """A worker is at the step."""
    row = breaking(world, *STEPS, LAST)
    world.fire()
    assert len(world.walker.claim(None, 10)) == 1
    return row


def failed(world: World) -> Automation:
    """The first step has failed for good."""
    return broken(world, *STEPS, LAST)


def ended(world: World) -> Automation:
    """A person has ended the run while it waited."""
    row = waiting(world)
    act(world, world.run(row).public_id, "cancel")
    return row


def finished(world: World) -> Automation:
    row = world.live(LAST)
    world.fire()
    world.walker.sweep()
    return row


# state → act → refusal, or the log of the run afterwards.
TABLE: dict[Callable[[World], Automation], dict[str, str | list[tuple[str, str]]]] = {
    waiting: {
        "retry": "nothing_failed",
        "skip-step": [("wait", "skipped"), ("who", "pending")],
        "move": [("wait", "skipped"), ("who", "skipped"), ("mid", "pending")],
        "cancel": [("wait", "failed")],
        "dismiss": "nothing_to_dismiss",
    },
    between_tries: {
        "retry": [("mail", "executing")],
        "skip-step": [("mail", "skipped"), ("wait", "pending")],
        "move": [
            ("mail", "skipped"), ("wait", "skipped"), ("who", "skipped"), ("mid", "pending"),
        ],
        "cancel": [("mail", "failed")],
        "dismiss": "nothing_to_dismiss",
    },
    executed: {
        "retry": "being_executed",
        "skip-step": "being_executed",
        "move": "being_executed",
        "dismiss": "nothing_to_dismiss",
    },
    failed: {
        "retry": [("mail", "failed"), ("mail", "pending")],
        "skip-step": [("mail", "failed"), ("wait", "pending")],
        "move": [("mail", "failed"), ("wait", "skipped"), ("who", "skipped"), ("mid", "pending")],
        "cancel": "already_ended",
        "dismiss": [("mail", "failed")],
    },
    ended: {
        "retry": [("wait", "failed"), ("wait", "pending")],
        "skip-step": [("wait", "failed"), ("who", "pending")],
        "move": [("wait", "failed"), ("who", "skipped"), ("mid", "pending")],
        "cancel": "already_ended",
        "dismiss": "nothing_to_dismiss",
    },
    finished: {
        "retry": "already_ended",
        "skip-step": "already_ended",
        "move": "already_ended",
        "cancel": "already_ended",
        "dismiss": "nothing_to_dismiss",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("state", "action"),
    [(state, action) for state, acts in TABLE.items() for action in acts],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_each_act_in_each_state_moves_rows_once_or_says_why_not(
    world: World, state: Callable[[World], Automation], action: str
) -> None:
    row = state(world)
    expected = TABLE[state][action]
    before = world.log(row)
    done = act(world, world.run(row).public_id, action, "mid" if action == "move" else None)
    if isinstance(expected, str):
        assert done == Refused(expected)
        assert world.log(row) == before
    else:
        assert isinstance(done, Done)
        assert world.log(row) == expected
        with world.uow.read() as session:
            line = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
        assert line is not None
        assert (line.resource, line.resource_id) == ("run", done.run_id)
        assert line.details["reason"] == "because"


def test_a_retried_run_goes_on_with_its_revision_and_asks_for_attention_no_more(
    world: World,
) -> None:
    row = failed(world)
    run = world.run(row)
    assert (run.failed_step_key, run.error_code) == ("mail", "TEMPLATE_NOT_FOUND")
    assert run.attention_at is not None
    done = act(world, run.public_id, "retry")
    assert done == Done(run.public_id, "running", "mail", "mail")
    after = world.run(row)
    assert (after.status, after.ended_reason, after.completed_at) == ("running", None, None)
    assert (after.failed_step_key, after.error_code, after.attention_at) == (None, None, None)
    assert after.revision_id == run.revision_id
    fail(world)
    assert world.run(row).ended_reason == "step_failed"
    books(world)


def test_a_try_that_is_brought_forward_is_taken_at_once(
    world: World, dispatch: RecordingDispatch
) -> None:
    row = between_tries(world)
    assert world.walker.sweep()["walked"] == 0
    dispatch.take()
    act(world, world.run(row).public_id, "retry")
    visit = world.visits(row)[0]
    assert [hint.step_run_ids for hint in dispatch.take()] == [(visit.id,)]  # type: ignore[attr-defined]
    world.walker.walk([visit.id])
    assert world.visits(row)[0].attempt == 2


def test_a_wait_that_an_end_cut_short_lasts_as_long_as_it_would_have(world: World) -> None:
    row = waiting(world)
    start = world.clock.now()
    world.clock.advance(DAY)
    act(world, world.run(row).public_id, "cancel")
    act(world, world.run(row).public_id, "retry")
    assert world.visits(row)[-1].due_at == start + 3 * DAY
    assert world.run(row).next_step_at == start + 3 * DAY
    act(world, world.run(row).public_id, "cancel")
    world.clock.advance(5 * DAY)
    act(world, world.run(row).public_id, "retry")
    assert world.visits(row)[-1].due_at == world.clock.now()


def test_a_skip_over_the_last_step_finishes_the_run(world: World) -> None:
    row = world.live(make.delay("only", 1))
    world.fire()
    done = act(world, world.run(row).public_id, "skip-step")
    assert isinstance(done, Done)
    assert (done.status, done.step_key) == ("completed", None)
    assert world.run(row).ended_reason == "finished"
    again = broken(world)
    assert isinstance(act(world, world.run(again).public_id, "skip-step"), Done)
    assert (world.run(again).status, world.run(again).steps_executed) == ("completed", 1)


def test_a_stop_that_met_a_step_between_two_tries_can_be_taken_back(world: World) -> None:
    row = between_tries(world)
    move(world, row, service.Wish(PAUSED, cancel_inside=True))
    run = world.run(row).public_id
    barred = act(world, run, "retry", open_end=True)
    assert barred == Refused("automation_not_active")
    mend(world)
    assert isinstance(act(world, world.run(row).public_id, "retry"), Done)
    assert world.log(row) == [("mail", "executing")]
    assert world.run(row).status == "running"
