"""What a publish would do is what it does: the same people move, stay and become due."""

from datetime import timedelta
from typing import Any

import pytest

from engine.automations import service
from engine.automations.comparing import ADDED, CHANGED, REMOVED
from engine.automations.models import PAUSED, Automation
from engine.automations.service import PublishPreview, StepImpact, previewing
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.pausing import WISH, live, move
from tests.factories.world import World

DAY = timedelta(days=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=3)


def draft(world: World, row: Automation, *steps: dict[str, Any]) -> PublishPreview:
    """Save these steps and return what a publish would do."""
    raw = make.document(*steps, on_pause="hold")
    with world.uow.begin() as session:
        found = service.find(session, row.workspace_id, row.public_id)
        assert found is not None
        place, at = (session, row.workspace_id, row.public_id), world.clock.now()
        saved = service.save(*place, raw, found.draft_version, make.ACTOR, at)
        assert isinstance(saved, service.Saved), saved
    seen = preview(world, row)
    assert isinstance(seen, PublishPreview), seen
    assert seen.version == saved.version
    return seen


def preview(world: World, row: Automation) -> PublishPreview | Refused:
    with world.uow.read() as session:
        place = (session, row.workspace_id, row.public_id)
        return service.preview_publish(*place, world.clock.now())


def publish(world: World, row: Automation, people_inside: str) -> service.Published:
    with world.uow.begin() as session:
        place = (session, row.workspace_id, row.public_id)
        done = service.publish(*place, people_inside, make.ACTOR, world.clock.now())
    assert isinstance(done, service.Published), done
    return done


def test_a_shorter_wait_says_how_many_go_on_within_minutes(world: World) -> None:
    row = live(world, make.delay("wait", 5))
    first, *rest = world.people
    world.people = [first]
    world.fire()
    world.clock.advance(2 * DAY)
    world.people = rest
    world.fire()
    seen = draft(world, row, make.delay("wait", 1))
    assert seen.impacts == (StepImpact("wait", 3, gone=False, due_at_once=1),)
    assert (seen.inside, seen.would_move, seen.would_stay, seen.finished) == (3, 3, 0, 0)
    assert [(change.key, change.what) for change in seen.comparison.steps] == [("wait", CHANGED)]
    assert publish(world, row, service.MOVE).moved == 3
    assert world.walker.sweep()["walked"] == 1


def test_a_step_that_goes_names_the_people_who_stay_behind(world: World) -> None:
    row = live(world, make.delay("wait", 5), make.delay("more", 1))
    world.fire()
    seen = draft(world, row, make.delay("more", 1))
    assert seen.impacts == (StepImpact("wait", 3, gone=True, due_at_once=0),)
    assert (seen.inside, seen.would_move, seen.would_stay) == (3, 0, 3)
    assert [(change.key, change.what) for change in seen.comparison.steps] == [("wait", REMOVED)]
    done = publish(world, row, service.MOVE)
    assert (done.moved, done.stayed) == (0, 3)
    assert world.walker.sweep()["walked"] == 0


def test_a_step_at_the_end_names_the_finished_who_get_nothing(world: World) -> None:
    row = live(world, make.delay("wait", 1))
    world.fire()
    world.clock.advance(DAY)
    world.walker.sweep()
    seen = draft(world, row, make.delay("wait", 1), make.delay("extra", 1))
    assert (seen.inside, seen.would_move, seen.would_stay, seen.finished) == (0, 0, 0, 3)
    assert [(change.key, change.what) for change in seen.comparison.steps] == [("extra", ADDED)]
    publish(world, row, service.MOVE)
    world.clock.advance(9 * DAY)
    assert world.walker.sweep()["walked"] == 0


def test_people_of_older_revisions_count_by_their_own_wait(world: World) -> None:
    row = live(world, make.delay("wait", 5))
    first, *rest = world.people
    world.people = [first]
    world.fire()
    draft(world, row, make.delay("wait", 3))
    publish(world, row, service.STAY)
    world.people = rest
    world.fire()
    world.clock.advance(3 * DAY - timedelta(hours=1))
    assert draft(world, row, make.delay("wait", 3), make.end("new")).impacts == (
        StepImpact("wait", 3, gone=False, due_at_once=0),
    )
    world.clock.advance(timedelta(hours=2))
    seen = preview(world, row)
    assert isinstance(seen, PublishPreview)
    assert seen.impacts == (StepImpact("wait", 3, gone=False, due_at_once=1),)


def test_a_draft_that_says_what_is_in_force_moves_nobody(world: World) -> None:
    row = live(world, make.delay("wait", 5))
    world.fire()
    seen = preview(world, row)
    assert isinstance(seen, PublishPreview)
    assert seen.comparison.same
    assert (seen.inside, seen.would_move, seen.would_stay) == (3, 0, 3)
    assert publish(world, row, service.MOVE).moved == 0


def test_a_paused_automation_is_previewed_too(world: World) -> None:
    row = live(world, make.delay("wait", 5))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    seen = draft(world, row, make.delay("wait", 1))
    assert (seen.inside, seen.would_move) == (3, 3)
    assert seen.impacts == (StepImpact("wait", 3, gone=False, due_at_once=3),)


def test_nobody_counts_who_becomes_due_among_very_many(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previewing, "MOST_INSIDE", 2)
    row = live(world, make.delay("wait", 5))
    world.fire()
    world.clock.advance(2 * DAY)
    seen = draft(world, row, make.delay("wait", 1))
    assert seen.impacts == (StepImpact("wait", 3, gone=False, due_at_once=None),)


def test_a_wait_without_length_yet_makes_nobody_due(world: World) -> None:
    row = live(world, make.delay("wait", 5))
    world.fire()
    seen = draft(world, row, {"key": "wait", "type": "delay", "config": {}})
    assert seen.impacts == (StepImpact("wait", 3, gone=False, due_at_once=0),)


def test_a_draft_that_was_never_live_has_no_publish(world: World) -> None:
    with world.uow.begin() as session:
        acting = (make.ACTOR, world.clock.now())
        made = service.create(session, world.workspace_id, make.document(), *acting)
        assert isinstance(made, service.Saved)
        place = (session, world.workspace_id, made.public_id)
        assert service.preview_publish(*place, world.clock.now()) == Refused("illegal_edge")
        foreign = (session, world.workspace_id + 1, made.public_id)
        unknown = service.preview_publish(*foreign, world.clock.now())
    assert unknown == Refused("automation_not_found", "missing")
