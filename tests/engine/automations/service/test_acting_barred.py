"""Where an act on a run is barred: pauses, deletions, loops, younger runs, other workspaces."""

import pytest
from sqlalchemy import update

from engine.audience import service as audience
from engine.automations import service
from engine.automations.act_judging import RunAct
from engine.automations.models import PAUSED, AutomationRevision, AutomationRun
from engine.automations.service.acting import Done
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.engine.automations.service.test_acting import DAY, LAST, STEPS, failed, waiting
from tests.factories import automations as make
from tests.factories.acting import act, books, breaking, fail, many
from tests.factories.pausing import WISH, move
from tests.factories.world import World


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def test_whoever_is_inside_again_is_not_revived(world: World) -> None:
    row = failed(world)
    world.fire()
    with world.uow.read() as session:
        first = make.runs(session, row)[0].public_id
    assert act(world, first, "retry") == Refused("already_inside")


def test_of_two_ended_runs_of_one_person_one_goes_on(world: World) -> None:
    row = failed(world)
    world.fire()
    fail(world)
    with world.uow.read() as session:
        ids = [run.id for run in make.runs(session, row)]
    done = many(world, ids, RunAct("retry"))
    assert sorted(type(answer).__name__ for answer in done.values()) == ["Done", "Refused"]
    assert Refused("already_inside") in done.values()


@pytest.mark.parametrize("action", ["retry", "skip-step", "move"])
def test_a_pause_that_ends_people_bars_and_one_that_holds_them_parks(
    world: World, action: str
) -> None:
    step = "mid" if action == "move" else None
    row = failed(world)
    move(world, row, WISH[PAUSED])
    assert act(world, world.run(row).public_id, action, step) == Refused("automation_not_active")
    held = breaking(world, *STEPS, LAST, on_pause="hold")
    world.fire()
    fail(world)
    move(world, held, WISH[PAUSED])
    assert isinstance(act(world, world.run(held).public_id, action, step), Done)
    world.walker.sweep()
    assert world.run(held).status == "running"
    books(world)


def test_a_deleted_automation_a_removed_person_and_a_loop_bar(world: World) -> None:
    row = failed(world)
    run = world.run(row)
    with world.uow.begin() as session:
        session.execute(update(AutomationRun).values(steps_executed=100))
        wanted = RunAct("retry")
        at, place = world.clock.now(), world.workspace_id
        session.flush()
        act_one = service.act(session, place, run.public_id, wanted, make.ACTOR, at)
        assert act_one == Refused("loop_cap")
        session.rollback()
    with world.uow.begin() as session:
        person = world.people[0].public_id
        audience.delete_contact(session, world.workspace_id, person, make.ACTOR, world.clock.now())
    assert act(world, run.public_id, "retry") == Refused("contact_removed")
    move(world, row, WISH[PAUSED])
    with world.uow.begin() as session:
        gone = service.remove(
            session, world.workspace_id, row.public_id, make.ACTOR, world.clock.now()
        )
    assert not isinstance(gone, Refused)
    assert act(world, run.public_id, "retry") == Refused("automation_deleted")


def test_pau_08_the_run_of_a_removed_person_is_ended_and_stays_so(world: World) -> None:
    row = waiting(world)
    with world.uow.begin() as session:
        person = world.people[0].public_id
        audience.delete_contact(session, world.workspace_id, person, make.ACTOR, world.clock.now())
    run = world.run(row)
    assert (run.status, run.ended_reason) == ("cancelled", "removed")
    assert act(world, run.public_id, "retry") == Refused("contact_removed")
    world.clock.advance(9 * DAY)
    world.walker.sweep()
    assert world.log(row) == [("wait", "failed")]


def test_an_unknown_run_step_or_revision_is_refused(world: World) -> None:
    row = waiting(world)
    run = world.run(row).public_id
    assert act(world, "nowhere", "retry") == Refused("run_not_found", "missing")
    refused = act(world, run, "move", "gone")
    assert isinstance(refused, Refused)
    assert (refused.reason, refused.kind, refused.params) == (
        "unknown_step", "invalid", {"known": "wait, who, mid, last"},
    )  # fmt: skip
    with world.uow.begin() as session:
        unread = {"steps": [{"key": "x", "type": "of another version", "config": {}}]}
        session.execute(
            update(AutomationRevision).values(document=unread, public_id="another-revision")
        )
    assert act(world, run, "skip-step") == Refused("unreadable_revision")


def test_a_run_of_another_workspace_is_unknown(world: World) -> None:
    row = waiting(world)
    other = World(world.uow, world.clock)
    assert act(other, world.run(row).public_id, "cancel") == Refused("run_not_found", "missing")


def test_what_a_worker_brings_back_after_an_end_is_written_and_leads_nowhere(
    world: World,
) -> None:
    row = world.live(make.branch("who"), *STEPS[2:], LAST)
    world.fire()
    items = world.walker.claim(None, 10)
    assert isinstance(act(world, world.run(row).public_id, "cancel", open_end=True), Done)
    world.walker.settle(items, world.walker.run(items))
    assert world.run(row).ended_reason == "ended_by_person"
    assert [key for key, _status in world.log(row)] == ["who"]
    books(world)
