"""Where moved people go on: a changed wait begins anew, an unchanged one stays (decision A8)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from engine.automations import service
from engine.automations.models import (
    ACTIVE,
    PAUSED,
    Automation,
    AutomationRevision,
    AutomationStepRun,
    RunMove,
)
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as make
from tests.factories.pausing import WISH, live, move
from tests.factories.world import World
from tests.web.counting import counting

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def publish(world: World, row: Automation, *steps: dict[str, Any], choice: str = "move") -> int:
    """Publish these steps, which hold on pause; return how many people were moved."""
    raw = make.document(*steps, on_pause="hold")
    with world.uow.begin() as session:
        found = service.find(session, row.workspace_id, row.public_id)
        assert found is not None
        place, at = (session, row.workspace_id, row.public_id), world.clock.now()
        saved = service.save(*place, raw, found.draft_version, make.ACTOR, at)
        assert isinstance(saved, service.Saved), saved
        done = service.publish(*place, choice, make.ACTOR, at)
    assert isinstance(done, service.Published), done
    return done.moved


def standing(world: World, row: Automation) -> Sequence[AutomationStepRun]:
    """Return the last visit of each run, the oldest run first."""
    with world.uow.read() as session:
        return [make.visits(session, run)[-1] for run in make.runs(session, row)]


def shifted(world: World, *steps: dict[str, Any]) -> tuple[Automation, datetime, datetime]:
    """Return an automation whose waits were shifted by ten days, when they began, and are due."""
    row = live(world, *steps)
    world.fire()
    start = world.clock.now()
    move(world, row, WISH[PAUSED])
    world.clock.advance(10 * DAY)
    move(world, row, WISH[ACTIVE])
    return row, start, standing(world, row)[0].due_at


def test_a_publish_that_leaves_the_wait_alone_leaves_its_shift_alone(world: World) -> None:
    row, start, due = shifted(world, make.delay("wait", 3), make.end("old"))
    assert due == start + 13 * DAY
    assert publish(world, row, make.end("new"), make.delay("wait", 3), make.end("last")) == 1
    [visit] = standing(world, row)
    assert (visit.step_index, visit.due_at, visit.delay_until) == (1, due, due)
    assert world.run(row).next_step_at == due
    world.clock.set(due - timedelta(microseconds=1))
    assert world.walker.sweep()["walked"] == 0
    world.clock.set(due)
    world.walker.sweep()
    assert world.log(row) == [("wait", "completed"), ("last", "completed")]


def test_a_changed_wait_is_due_at_its_own_start_plus_the_new_delay_whatever_was_shifted(
    world: World,
) -> None:
    row, start, _due = shifted(world, make.delay("wait", 3))
    assert publish(world, row, make.delay("wait", 12)) == 1
    [visit] = standing(world, row)
    assert (visit.due_at, visit.delay_until) == (start + 12 * DAY, start + 12 * DAY)


def test_who_starts_overdue_goes_on_sixty_a_minute_over_a_publish(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=130)
    row = live(world, make.delay("wait", 1), make.end("old"))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    at = world.clock.now()
    move(world, row, service.Wish(ACTIVE, resume="overdue"))
    assert publish(world, row, make.delay("wait", 1), make.end("new")) == 130
    dues = sorted(visit.due_at for visit in standing(world, row))
    assert dues == [at] * 60 + [at + MINUTE] * 60 + [at + 2 * MINUTE] * 10
    world.walker.sweep()
    assert sum(visit.step_key == "new" for visit in standing(world, row)) == 60


def test_each_persons_own_revision_says_whether_the_wait_has_changed(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=2)
    first, second = world.people
    row = live(world, make.delay("wait", 2))
    begun = world.clock.now()
    world.people = [first]
    world.fire()
    publish(world, row, make.delay("wait", 3), choice="stay")
    world.people = [second]
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(DAY)
    move(world, row, WISH[ACTIVE])
    assert publish(world, row, make.end("new"), make.delay("wait", 3)) == 2
    ours, theirs = standing(world, row)
    assert ours.due_at == begun + 3 * DAY, "two days have become three, from its own start"
    assert theirs.due_at == begun + 4 * DAY, "three days stay three, and shifted by one"


def test_a_parked_wait_that_did_not_change_stays_parked(world: World) -> None:
    row = live(world, make.delay("wait", 1))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    [before] = standing(world, row)
    assert publish(world, row, make.delay("wait", 1), make.end("new")) == 1
    [after] = standing(world, row)
    assert after.held_at is not None
    assert (after.held_at, after.due_at) == (before.held_at, before.due_at)


def test_who_waits_anew_is_not_skipped_for_having_been_overdue(world: World) -> None:
    row = live(world, make.delay("wait", 1), make.end("last"))
    world.fire()
    start = world.clock.now()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    move(world, row, service.Wish(ACTIVE, resume="skip"))
    publish(world, row, make.delay("wait", 5), make.end("last"))
    world.clock.set(start + 5 * DAY)
    world.walker.sweep()
    assert world.log(row) == [("wait", "completed"), ("last", "completed")]


def test_a_move_notes_from_which_visit_on_a_run_goes_by_which_revision(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=3)
    row = live(world, make.delay("wait", 2), make.delay("more"))
    world.fire()
    world.clock.advance(DAY)
    assert publish(world, row, make.delay("wait", 3), make.delay("more")) == 3
    moved_at = world.clock.now()
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    assert publish(world, row, make.delay("more")) == 3
    with world.uow.read() as session:
        rows = session.execute(select(AutomationRevision.id, AutomationRevision.number)).all()
        numbers = {row.id: row.number for row in rows}
        moves = session.scalars(select(RunMove).order_by(RunMove.id)).all()
        steps = {visit.id: visit.step_key for visit in session.scalars(select(AutomationStepRun))}
        runs = make.runs(session, row)
    told = [(numbers[m.from_revision_id], numbers[m.to_revision_id], m.moved_at) for m in moves]
    assert told == [(1, 2, moved_at)] * 3 + [(2, 3, world.clock.now())] * 3
    assert [m.automation_run_id for m in moves] == [run.id for run in runs] * 2
    assert [steps[m.step_run_id] for m in moves] == ["wait"] * 3 + ["more"] * 3


def test_who_stays_is_noted_nowhere(world: World) -> None:
    row = live(world, make.delay("wait", 2))
    world.fire()
    assert publish(world, row, make.delay("wait", 3), choice="stay") == 0
    assert publish(world, row, make.delay("other", 3)) == 0
    with world.uow.read() as session:
        assert session.scalars(select(RunMove)).all() == []


def test_however_many_people_a_move_asks_the_same_statements(
    uow: UnitOfWork, clock: FixedClock, house: House
) -> None:
    counts = []
    for people in (1, 40):
        world = World(uow, clock, people=people)
        row = live(world, make.delay("wait", 2))
        world.fire()
        with counting(house.runtime.database.engine) as asked:
            assert publish(world, row, make.delay("wait", 3)) == people
        counts.append(asked.count)
    assert counts[0] == counts[1]
