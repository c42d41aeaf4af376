"""On hold: nobody is cancelled, and the resume says how people go on (decision A11)."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from engine.automations import holding, service
from engine.automations.effects import WalkSteps
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import Completed
from engine.automations.models import ACTIVE, PAUSED, Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.pausing import WISH, Failing, live, move
from tests.factories.world import World
from tests.fakes.dispatch import RecordingDispatch

DAY = timedelta(days=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def waits(world: World, row: Automation) -> Sequence[datetime | None]:
    """Return what the runs wait for, the oldest run first."""
    with world.uow.read() as session:
        return [run.next_step_at for run in make.runs(session, row)]


def test_pau_03_what_comes_due_on_hold_is_parked_and_nothing_is_cancelled(world: World) -> None:
    row = live(world, make.delay("wait", 1), make.delay("more", 1))
    world.fire()
    start = world.clock.now()
    assert move(world, row, WISH[PAUSED]).people_inside == 1
    world.clock.advance(3 * DAY)
    world.walker.sweep()
    assert world.log(row) == [("wait", "pending")]
    visit = world.visits(row)[0]
    assert (visit.held_at, visit.due_at, visit.attempt) == (world.clock.now(), start + DAY, 0)
    assert world.run(row).status == "running"
    assert world.walker.sweep()["walked"] == 0


def test_pau_01_a_resume_shifts_the_waits_that_were_still_to_come(world: World) -> None:
    row = live(world, make.delay("first", 1), make.delay("second", 1), make.end("stop"))
    world.fire()
    world.clock.advance(DAY)
    world.walker.sweep()
    world.clock.advance(timedelta(hours=6, microseconds=5))
    move(world, row, WISH[PAUSED])
    world.clock.advance(14 * DAY)
    world.walker.sweep()
    assert world.visits(row)[-1].held_at is not None
    resumed = world.clock.now()
    assert move(world, row, WISH[ACTIVE]).due_now == 0
    remaining = timedelta(hours=18) - timedelta(microseconds=5)
    visit = world.visits(row)[-1]
    assert (visit.due_at, visit.delay_until, visit.held_at) == (
        resumed + remaining,
        resumed + remaining,
        None,
    )
    assert waits(world, row) == [resumed + remaining]
    world.clock.advance(remaining)
    world.walker.sweep()
    assert world.run(row).status == "completed"


def test_hue_08_waits_and_pauses_mean_the_same_instants_whatever_the_zone_of_the_machine(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        row = live(world, make.delay("wait", 10, "minutes"), make.delay("more", 1))
        world.fire()
        start = world.clock.now()
        move(world, row, WISH[PAUSED])
        world.clock.advance(timedelta(minutes=10))
        world.walker.sweep()
        assert world.visits(row)[0].held_at == start + timedelta(minutes=10)
        move(world, row, WISH[ACTIVE])
        assert world.visits(row)[0].due_at == start + timedelta(minutes=20)
        world.clock.advance(timedelta(minutes=10) - timedelta(microseconds=1))
        assert world.walker.sweep()["walked"] == 0
        world.clock.advance(timedelta(microseconds=1))
        assert world.walker.sweep()["walked"] == 1
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_shift_makes_due_now_what_was_due_before_the_pause(
    world: World, dispatch: RecordingDispatch
) -> None:
    row = live(world, make.delay("wait", 1), make.end("stop"))
    world.fire()
    world.clock.advance(2 * DAY)
    move(world, row, WISH[PAUSED])
    world.clock.advance(DAY)
    world.walker.sweep()
    assert world.visits(row)[0].held_at is not None
    dispatch.effects.clear()
    assert move(world, row, WISH[ACTIVE]).due_now == 1
    visit = world.visits(row)[0]
    assert (visit.due_at, visit.held_at) == (world.clock.now(), None)
    assert [hint.step_run_ids for hint in dispatch.of(WalkSteps)] == [(visit.id,)]
    assert waits(world, row) == [None]
    world.walker.sweep()
    assert world.run(row).status == "completed"


def test_overdue_people_start_at_once_but_sixty_a_minute(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=130)
    row = live(world, make.delay("wait", 1), make.delay("more", 1))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    at = world.clock.now()
    assert move(world, row, service.Wish(ACTIVE, resume="overdue")).due_now == 60
    with world.uow.read() as session:
        visits = [make.visits(session, run)[0] for run in make.runs(session, row)]
    dues = sorted(visit.due_at for visit in visits)
    minute = timedelta(minutes=1)
    assert dues == [at] * 60 + [at + minute] * 60 + [at + 2 * minute] * 10
    assert {visit.held_at for visit in visits} == {None}
    assert sorted(waits(world, row), key=lambda due: due or at)[-1] == at + 2 * minute


def test_overdue_leaves_what_is_still_to_come(world: World) -> None:
    row = live(world, make.delay("wait", 5))
    world.fire()
    due = world.clock.now() + 5 * DAY
    move(world, row, WISH[PAUSED])
    world.clock.advance(DAY)
    for choice in ("overdue", "skip"):
        move(world, row, service.Wish(ACTIVE, resume=choice))
        assert (world.visits(row)[0].due_at, world.visits(row)[0].result) == (due, None)
        move(world, row, WISH[PAUSED])


def test_skip_passes_over_what_is_overdue_and_says_who_wanted_it(world: World) -> None:
    row = live(world, make.delay("wait", 1), make.delay("more", 1))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    assert move(world, row, service.Wish(ACTIVE, resume="skip")).due_now == 1
    world.walker.sweep()
    assert world.log(row) == [("wait", "skipped"), ("more", "pending")]
    assert world.visits(row)[0].result == {"skip": make.ACTOR.name, "reason": "overdue"}
    assert world.run(row).next_step_at == world.clock.now() + DAY


def test_skip_goes_on_until_the_next_wait_and_takes_the_branch_of_the_person(
    world: World,
) -> None:
    steps = (
        make.delay("wait", 1),
        make.end("mail"),
        make.branch("ask", yes="ada", no="end"),
        make.end("bob"),
        make.end("ada"),
        make.delay("more", 1),
        make.end("last"),
    )
    with pytest.MonkeyPatch.context() as patch:
        kind = Failing()
        patch.setitem(STEPS._kinds, "end", kind)
        row = live(world, *steps)
        world.fire()
        move(world, row, WISH[PAUSED])
        world.clock.advance(2 * DAY)
        world.walker.sweep()
        move(world, row, service.Wish(ACTIVE, resume="skip"))
        world.walker.sweep()
        assert world.log(row) == [
            ("wait", "skipped"),
            ("mail", "skipped"),
            ("ask", "completed"),
            ("bob", "skipped"),
            ("ada", "skipped"),
            ("more", "pending"),
        ]
        assert world.run(row).next_step_at == world.clock.now() + DAY
        kind.outcome = Completed()
        world.clock.advance(DAY)
        world.walker.sweep()
    assert world.log(row)[-2:] == [("more", "completed"), ("last", "completed")]


def test_nobody_is_parked_behind_the_back_of_a_resume(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = live(world, make.delay("wait", 1), make.delay("more", 1))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    with monkeypatch.context() as patch:
        # What the claim sees while another transaction is about to resume.
        patch.setattr(holding, "surely_paused", lambda _session, _ids: set())
        world.walker.claim(None, 10)
    visit = world.visits(row)[0]
    assert (visit.status, visit.held_at, visit.attempt) == ("pending", None, 0)
    assert visit.due_at == world.clock.now() + timedelta(seconds=1)


@pytest.mark.parametrize("choice", ["shift", "overdue", "skip", "stop"])
def test_who_was_between_two_tries_is_parked_and_let_go_too(
    world: World, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    kind = Failing()
    monkeypatch.setitem(STEPS._kinds, "end", kind)
    row = live(world, make.end("try"), make.delay("more"))
    world.fire()
    world.walker.sweep()
    move(world, row, WISH[PAUSED])
    world.clock.advance(DAY)
    world.walker.sweep()
    visit = world.visits(row)[0]
    assert (visit.status, visit.attempt) == ("executing", 1)
    assert visit.held_at is not None
    if choice == "stop":
        assert move(world, row, service.Wish(PAUSED, cancel_inside=True)).cancelled == 1
    else:
        assert move(world, row, service.Wish(ACTIVE, resume=choice)).people_inside == 1
    kind.outcome = Completed()
    world.walker.sweep()
    ends = {"stop": [("try", "failed")], "skip": [("try", "skipped"), ("more", "pending")]}
    expected = ends.get(choice, [("try", "completed"), ("more", "pending")])
    assert world.log(row) == expected


def test_who_was_held_goes_on_where_the_rule_became_cancel_meanwhile(world: World) -> None:
    row = live(world, make.delay("wait", 1), make.delay("more", 1))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    with world.uow.begin() as session:
        place = (session, world.workspace_id, row.public_id)
        raw = make.document(make.delay("wait", 1), make.delay("more", 1))
        service.save(*place, raw, 1, make.ACTOR, world.clock.now())
        assert isinstance(
            service.publish(*place, service.STAY, make.ACTOR, world.clock.now()), service.Published
        )
    assert move(world, row, WISH[ACTIVE]).due_now == 1
    world.walker.sweep()
    assert world.log(row) == [("wait", "completed"), ("more", "pending")]


def test_an_automation_that_is_being_resumed_is_not_surely_paused(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock)
    row = live(world, make.delay("wait", 1))
    with uow.begin() as session:
        assert holding.surely_paused(session, [row.id]) == set()
    move(world, row, WISH[PAUSED])
    with uow.begin() as session:
        assert holding.surely_paused(session, [row.id]) == {row.id}


def test_a_resume_puts_the_revision_s_own_rule_back_in_force(world: World) -> None:
    row = live(world, make.delay("wait", 1), make.delay("more", 1), on_pause="cancel")
    world.fire()
    with world.uow.begin() as session:
        # As a restore does that holds mail: nobody is to be cancelled, whatever the rule.
        session.execute(update(Automation).values(on_pause="hold"))
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    assert move(world, row, service.Wish(ACTIVE, resume="skip")).due_now == 1
    with world.uow.read() as session:
        assert session.scalars(select(Automation.on_pause)).all() == ["cancel"]
