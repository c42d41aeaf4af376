"""Edited drafts as people walk them: a branch keeps its step, and an edit costs nobody the way."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from engine.automations import editing, service
from engine.automations.editing import Place, Pointer
from engine.automations.models import ACTIVE, PAUSED, Automation
from engine.automations.service import Act
from engine.core.clock import FixedClock
from engine.core.db import JsonObject
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.pausing import WISH, live, move
from tests.factories.world import World

DAY = timedelta(days=1)
THREE_BRANCHES = (
    make.branch("one", yes="two", no="left"),
    make.end("left"),
    make.branch("two", yes="far", no="three"),
    make.branch("three", yes="left", no="far"),
    make.delay("near", 1),
    make.branch("far", yes=None, no="near"),
    make.end("last"),
)
Op = Callable[[JsonObject], editing.Edit]


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    """Return a world with Ada, for whom every branch says yes, and Bob, for whom it says no."""
    return World(uow, clock, people=2)


def edit(world: World, row: Automation, *ops: Op) -> None:
    """Edit the draft by `ops`, one after the other."""
    with world.uow.begin() as session:
        place = (session, row.workspace_id, row.public_id)
        for op in ops:
            seen = service.current(*place)
            assert seen is not None
            acting = (Act("insert"), make.ACTOR, world.clock.now())
            saved = service.edit(*place, seen.version, op, *acting)
            assert isinstance(saved, service.Saved), saved


def publish(world: World, row: Automation, people_inside: str) -> service.Published:
    with world.uow.begin() as session:
        place = (session, row.workspace_id, row.public_id)
        done = service.publish(*place, people_inside, make.ACTOR, world.clock.now())
    assert isinstance(done, service.Published), done
    return done


def paths(world: World, row: Automation) -> list[list[str]]:
    """Return the steps that each person came to, the oldest run first."""
    with world.uow.read() as session:
        return [
            [visit.step_key for visit in make.visits(session, run) if visit.status == "completed"]
            for run in make.runs(session, row)
        ]


def test_edt_01_a_clone_of_three_branches_leads_people_the_same_way(world: World) -> None:
    row = live(world, *THREE_BRANCHES)
    with world.uow.begin() as session:
        acting = (make.ACTOR, world.clock.now())
        made = service.duplicate(session, world.workspace_id, row.public_id, *acting)
        assert isinstance(made, service.Saved)
        copy = service.find(session, world.workspace_id, made.public_id)
        assert copy is not None
        old, new = service.draft_document(session, row), service.draft_document(session, copy)
        assert {**new, "name": old["name"]} == old
    move(world, copy, WISH[ACTIVE])
    world.fire()
    world.walker.sweep()
    walked = paths(world, row)
    assert walked == [["one", "two", "far", "last"], ["one", "left"]]
    assert paths(world, copy) == walked


@pytest.mark.parametrize(
    ("place", "ways"),
    [
        (Place(None), [["new", "one", "two", "far", "last"], ["new", "one", "left"]]),
        (Place("one", "yes"), [["one", "new", "two", "far", "last"], ["one", "left"]]),
        (Place("one", "no"), [["one", "two", "far", "last"], ["one", "new", "left"]]),
        (Place("far", "yes"), [["one", "two", "far", "new", "last"], ["one", "left"]]),
    ],
)
def test_edt_10_a_step_inserted_above_leaves_each_branch_on_its_step(
    world: World, place: Place, ways: list[list[str]]
) -> None:
    row = live(world, *THREE_BRANCHES)
    config = {"duration": 1, "unit": "minutes"}
    edit(world, row, partial(editing.insert, place=place, kind="delay", key="new", config=config))
    publish(world, row, service.STAY)
    world.fire()
    for _ in range(3):
        world.walker.sweep()
        world.clock.advance(timedelta(minutes=1))
    assert paths(world, row) == ways


@pytest.mark.parametrize("choice", [None, service.STAY, service.MOVE])
@pytest.mark.parametrize("resume", ["shift", "overdue"])
def test_edt_16_an_edit_between_pause_and_resume_drops_nobody_whose_wait_was_over(
    world: World, choice: str | None, resume: str
) -> None:
    row = live(world, make.delay("wait", 1), make.branch("ask", yes=None, no="end"), make.end("z"))
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    config = {"duration": 3, "unit": "days"}
    edit(
        world,
        row,
        partial(editing.insert, place=Place(None), kind="delay", key="above", config=config),
        partial(editing.duplicate, key="ask"),
        partial(editing.move, key="above", by=1),
    )
    if choice is not None:
        publish(world, row, choice)
    move(world, row, service.Wish(ACTIVE, resume=resume))
    for _ in range(3):
        world.walker.sweep()
        world.clock.advance(5 * DAY)
    with world.uow.read() as session:
        runs = make.runs(session, row)
        assert [run.status for run in runs] == ["completed", "completed"]
    ada, bob = paths(world, row)
    assert ada[0] == bob[0] == "wait"
    assert ("above" in ada) == (choice == service.MOVE)
    assert (ada[-1], bob[-1]) == ("z", "ask")


def test_edt_16_people_at_a_step_that_was_deleted_during_the_pause_go_on_too(world: World) -> None:
    row = live(world, make.delay("wait", 1), make.branch("ask", yes="z", no="wait"), make.end("z"))
    world.people = world.people[:1]
    world.fire()
    move(world, row, WISH[PAUSED])
    world.clock.advance(2 * DAY)
    world.walker.sweep()
    relink: dict[Pointer, str | None] = {Pointer("ask", "no"): "end"}
    edit(world, row, partial(editing.delete, key="wait", relink=relink))
    assert publish(world, row, service.MOVE).stayed == 1
    move(world, row, WISH[ACTIVE])
    world.clock.advance(DAY)
    world.walker.sweep()
    assert paths(world, row) == [["wait", "ask", "z"]]
    assert world.run(row).status == "completed"
