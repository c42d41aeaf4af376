"""Publishing over a live automation: what comes into force, and where people inside go on."""

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations import service
from engine.automations.models import ACTIVE, PAUSED, Automation, AutomationRevision
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.outbox import ProductEvent
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import automations as make
from tests.factories.world import World

DAY = timedelta(days=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def save(session: Session, row: Automation, raw: dict[str, Any], at: datetime) -> None:
    """Replace the draft of an automation."""
    found = service.find(session, row.workspace_id, row.public_id)
    assert found is not None
    place = (session, row.workspace_id, row.public_id)
    saved = service.save(*place, raw, found.draft_version, make.ACTOR, at)
    assert isinstance(saved, service.Saved), saved


def publish(
    world: World, row: Automation, raw: dict[str, Any], choice: str = service.STAY
) -> service.Published:
    """Save a draft and publish it."""
    at = world.clock.now()
    with world.uow.begin() as session:
        save(session, row, raw, at)
        place = (session, row.workspace_id, row.public_id)
        done = service.publish(*place, choice, make.ACTOR, at)
    assert isinstance(done, service.Published), done
    return done


def reread(world: World, row: Automation) -> Automation:
    with world.uow.read() as session:
        found = service.find(session, world.workspace_id, row.public_id)
    assert found is not None
    return found


def lines(world: World, row: Automation) -> list[tuple[str, dict[str, Any]]]:
    """Return the audit lines of an automation, with their details."""
    with world.uow.read() as session:
        found = session.execute(
            select(AuditEntry.action, AuditEntry.details)
            .where(AuditEntry.resource_id == row.public_id)
            .order_by(AuditEntry.id)
        )
        return [(action, details) for action, details in found]


def told(world: World) -> int:
    with world.uow.read() as session:
        return session.scalar(select(func.count()).select_from(ProductEvent)) or 0


@pytest.mark.parametrize("status", [ACTIVE, PAUSED])
def test_a_publish_puts_the_draft_in_force_and_keeps_the_status(world: World, status: str) -> None:
    row = world.live(make.delay("a"))
    if status == PAUSED:
        with world.uow.begin() as session:
            place = (session, row.workspace_id, row.public_id)
            service.move(*place, service.Wish(PAUSED), make.ACTOR, world.clock.now())
    before, events = reread(world, row), told(world)
    facts = (before.version, before.activated_at, before.paused_at)
    world.clock.advance(timedelta(minutes=1))
    raw = make.document(make.delay("a", 2), on_pause="hold", reentry="once")
    done = publish(world, row, raw)
    assert done == service.Published(2, 0, 0, new=True, reactivated=False)
    after = reread(world, row)
    rule: Any = after.reentry
    assert (after.status, after.on_pause, rule) == (status, "hold", "once")
    assert (after.version, after.activated_at, after.paused_at) == facts
    action, details = lines(world, row)[-1]
    assert action == "automation.published"
    assert (details["revision"], details["moved"], details["stayed"]) == (2, 0, 0)
    assert told(world) == events


def test_a_changed_trigger_makes_a_publish_an_activation(world: World) -> None:
    row = world.live(make.delay("a"))
    first, events = reread(world, row).activated_at, told(world)
    world.clock.advance(timedelta(minutes=1))
    raw = make.document(make.delay("a"), trigger={"type": "contact_created"})
    assert publish(world, row, raw).reactivated
    after = reread(world, row)
    assert (after.version, after.activated_at, after.first_activated_at) == (
        2,
        world.clock.now(),
        first,
    )
    assert after.trigger_type == "contact_created"
    (activated, details), (published, _) = lines(world, row)[-2:]
    assert (activated, published) == ("automation.activated", "automation.published")
    assert (details["reactivated"], details["previous_status"]) == (True, ACTIVE)
    assert told(world) == events + 1


def test_publishing_an_unchanged_draft_is_recorded_only(world: World) -> None:
    row = world.live(make.delay("a"))
    world.fire()
    done = publish(world, row, make.document(make.delay("a")), service.MOVE)
    assert done == service.Published(1, 0, 1, new=False, reactivated=False)
    assert lines(world, row)[-1][1]["no_op"] is True
    with world.uow.read() as session:
        assert session.scalar(select(func.count()).select_from(AutomationRevision)) == 1


def test_a_draft_cannot_be_published(session: Session, clock: FixedClock) -> None:
    workspace = accounts.workspace(session)
    saved = service.create(
        session, workspace.id, make.document(make.delay("a")), make.ACTOR, clock.now()
    )
    assert isinstance(saved, service.Saved)
    place = (session, workspace.id, saved.public_id)
    outcome = service.publish(*place, service.STAY, make.ACTOR, clock.now())
    assert outcome == Refused("illegal_edge")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (make.document(), "no_steps"),
        (make.document(make.delay("a"), trigger={"type": "event_received"}),
         "invalid_trigger_config"),
        (make.document(make.email("a", None)), "check_failed"),
    ],
)  # fmt: skip
def test_what_cannot_go_live_is_not_published(
    session: Session, clock: FixedClock, raw: dict[str, Any], reason: str
) -> None:
    workspace = accounts.workspace(session)
    row = make.live(session, workspace.id, make.document(make.delay("a")), clock.now())
    revision = row.revision_id
    save(session, row, raw, clock.now())
    place = (session, workspace.id, row.public_id)
    outcome = service.publish(*place, service.MOVE, make.ACTOR, clock.now())
    assert isinstance(outcome, Refused)
    assert outcome.reason == reason
    assert row.revision_id == revision
    assert session.scalar(select(func.count()).select_from(AutomationRevision)) == 1


def test_people_who_stay_finish_the_old_revision_and_new_ones_start_the_new(world: World) -> None:
    row = world.live(make.delay("a"), make.end("stop"))
    world.fire()
    done = publish(world, row, make.document(make.delay("b", 2)))
    assert (done.moved, done.stayed) == (0, 1)
    world.clock.advance(DAY)
    world.walker.sweep()
    assert world.run(row).status == "completed"
    world.fire()
    with world.uow.read() as session:
        newest = make.runs(session, row)[-1]
        assert [visit.step_key for visit in make.visits(session, newest)] == ["b"]


def test_t_a7_a_moved_person_waits_its_own_start_plus_the_new_delay(world: World) -> None:
    row = world.live(make.delay("a", 3), make.delay("b", 1))
    world.fire()
    start = world.clock.now()
    world.clock.advance(DAY)
    raw = make.document(make.delay("new", 9), make.delay("a", 5), make.end("stop"))
    done = publish(world, row, raw, service.MOVE)
    assert (done.moved, done.stayed) == (1, 0)
    run, visit = world.run(row), world.visits(row)[0]
    assert (run.revision_id, run.current_step_index) == (reread(world, row).revision_id, 1)
    assert (visit.step_index, visit.due_at) == (1, start + 5 * DAY)
    assert (visit.delay_until, run.next_step_at) == (start + 5 * DAY, start + 5 * DAY)
    world.clock.advance(4 * DAY)
    world.walker.sweep()
    assert world.log(row) == [("a", "completed"), ("stop", "completed")]


def test_a_moved_wait_that_is_over_is_due_at_once_also_when_it_lost_its_delay(
    world: World,
) -> None:
    row = world.live(make.delay("a", 3))
    world.fire()
    world.clock.advance(DAY)
    publish(world, row, make.document(make.end("a")), service.MOVE)
    visit = world.visits(row)[0]
    assert (visit.step_type, visit.delay_until, world.run(row).next_step_at) == ("end", None, None)
    world.walker.sweep()
    assert world.run(row).status == "completed"


def test_a_person_whose_step_is_gone_stays(world: World) -> None:
    row = world.live(make.delay("a", 3), make.end("stop"))
    world.fire()
    old = world.run(row).revision_id
    done = publish(world, row, make.document(make.delay("b")), service.MOVE)
    assert (done.moved, done.stayed) == (0, 1)
    assert world.run(row).revision_id == old
    world.clock.advance(3 * DAY)
    world.walker.sweep()
    assert world.log(row) == [("a", "completed"), ("stop", "completed")]


def test_a_step_that_is_being_executed_ends_in_the_graph_it_was_claimed_with(world: World) -> None:
    row = world.live(make.delay("a", 1), make.delay("old", 1))
    world.fire()
    world.clock.advance(DAY)
    items = world.walker.claim(None, 10)
    done = publish(world, row, make.document(make.delay("a"), make.delay("new")), service.MOVE)
    assert (done.moved, done.stayed) == (0, 1)
    world.walker.settle(items, world.walker.run(items))
    assert world.log(row) == [("a", "completed"), ("old", "pending")]


def test_a_parked_wait_that_grew_is_no_longer_parked(world: World) -> None:
    with world.uow.begin() as session:
        raw = make.document(make.delay("a", 1), on_pause="hold")
        row = make.live(session, world.workspace_id, raw, world.clock.now())
    world.fire()
    start = world.clock.now()
    with world.uow.begin() as session:
        place = (session, world.workspace_id, row.public_id)
        service.move(*place, service.Wish(PAUSED), make.ACTOR, world.clock.now())
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    assert world.visits(row)[0].held_at is not None
    publish(world, row, make.document(make.delay("a", 5), on_pause="hold"), service.MOVE)
    visit = world.visits(row)[0]
    assert (visit.due_at, visit.held_at) == (start + 5 * DAY, None)


def test_of_two_publishes_at_once_one_makes_the_revision(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session)
        row = make.live(session, workspace.id, make.document(make.delay("a")), clock.now())
        save(session, row, make.document(make.delay("b")), clock.now())
    barrier = threading.Barrier(4)
    outcomes: list[service.Published | Refused] = []

    def act() -> None:
        barrier.wait()
        with uow.begin() as session:
            place = (session, workspace.id, row.public_id)
            outcomes.append(service.publish(*place, service.STAY, make.ACTOR, clock.now()))

    threads = [threading.Thread(target=act) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [done for done in outcomes if isinstance(done, service.Published) and done.new]
    assert [done.revision for done in won] == [2]
    others = [done for done in outcomes if done not in won]
    assert len(others) == 3
    for other in others:
        # Who came after the winner finds nothing to publish; who looked before is told so.
        assert other in (
            Refused("lost_race"),
            service.Published(2, 0, 0, new=False, reactivated=False),
        )
    with uow.read() as session:
        numbers = session.scalars(select(AutomationRevision.number).order_by("number")).all()
    assert numbers == [1, 2]


def test_a_publish_moves_a_crowd_in_a_bounded_number_of_statements(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=300)
    row = world.live(make.delay("a", 3))
    world.fire()
    done = publish(world, row, make.document(make.delay("a", 4)), service.MOVE)
    assert (done.moved, done.stayed) == (300, 0)
    with world.uow.read() as session:
        runs = make.runs(session, row)
    assert {run.next_step_at for run in runs} == {clock.now() + 4 * DAY}
