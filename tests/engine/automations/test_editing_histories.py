"""Any history of edits, undos and publishes keeps every branch on its step and disturbs no run."""

import itertools
import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.automations import editing, service
from engine.automations.editing import Pointer
from engine.automations.graph import END, link
from engine.automations.models import Automation, AutomationRevision, AutomationStepRun
from engine.automations.service import Act
from engine.core.clock import FixedClock
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.world import World

LENGTH: Final = 16
WAIT: Final = timedelta(days=1)
CONFIG: Final[Mapping[str, JsonObject]] = {
    "delay": make.delay("any")["config"],
    "condition": make.branch("any")["config"],
    "end": {},
}
EACH: Final = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
_NUMBERS: Final = itertools.count(1)
Ways = set[tuple[str, str | None]]


def begun(rng: random.Random) -> JsonObject:
    """Return a document whose ways lead forwards and that begins with a wait."""
    keys = ["first", *(f"k{n}" for n in range(rng.randint(0, 5)))]
    steps = [make.delay("first", next=None)]
    for index, key in enumerate(keys[1:], start=1):
        kind = rng.choice(["delay", "delay", "condition", "condition", "end"])
        ahead = [None, END, *keys[index + 1 :]]
        config = {name: rng.choice(ahead) for name in ("yes", "no")} if kind == "condition" else {}
        step = {"key": key, "type": kind, "config": {**CONFIG[kind], **config}}
        steps.append({**step, "next": rng.choice(ahead) if kind == "delay" else None})
    trigger = {"type": "event_received", "config": {"event_name": f"edited{next(_NUMBERS)}"}}
    return make.document(*steps, trigger=trigger, on_pause="hold", reentry="after_end")


def path(document: JsonObject) -> list[str]:
    """Return the steps that Ada comes to, for whom every branch says yes."""
    graph, here, found = link(document["steps"]), 0, []
    while (step := graph.at(here)) is not None:
        found.append(step.key)
        here = graph.following(here, "yes" if step.exits else None)
    return found


def named(document: JsonObject) -> dict[tuple[str, str | None], str]:
    """Return where each way leads that names its target."""
    return {
        (step["key"], way): target
        for step in document["steps"]
        for way in (None, *editing.exits(step))
        if (target := step["next"] if way is None else step["config"][way]) is not None
    }


class Editor:
    """Somebody who edits a live automation, with what each state of its draft must be."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.first = begun(rng)
        with world.uow.begin() as session:
            at = world.clock.now()
            self.row: Automation = make.live(session, world.workspace_id, self.first, at)
            name = self.first["trigger"]["config"]["event_name"]
            assert make.fire(session, world.workspace_id, world.people, at, name) == 1
        self.states, self.at = [self.first], 0

    @property
    def draft(self) -> JsonObject:
        return self.states[self.at]

    def act(self) -> None:
        """Do one thing to the draft and hold it against what it must be then."""
        kind = self.rng.choice([*["edit"] * 5, "undo", "undo", "redo", "publish"])
        if kind == "edit":
            self._edit()
        elif kind == "publish":
            self.publish(service.STAY)
        else:
            self._walk(-1 if kind == "undo" else 1)
        with self.world.uow.read() as session:
            seen = service.current(session, self.row.workspace_id, self.row.public_id)
            assert seen is not None
            assert seen.document == self.draft

    def publish(self, people_inside: str) -> service.Published | Refused:
        with self.world.uow.begin() as session:
            place = (session, self.row.workspace_id, self.row.public_id)
            done = service.publish(*place, people_inside, make.ACTOR, self.world.clock.now())
        assert isinstance(done, service.Published) or done == Refused("no_steps"), done
        return done

    def _edit(self) -> None:
        edited, touched = self._op()
        with self.world.uow.begin() as session:
            place = (session, self.row.workspace_id, self.row.public_id)
            seen = service.current(*place)
            assert seen is not None
            acting = (Act("edit"), make.ACTOR, self.world.clock.now())
            kept = service.edit(*place, seen.version, lambda _: edited, *acting)
        if isinstance(kept, Refused):
            circle = any(problem.code == "endless_cycle" for problem in kept.problems)
            assert circle or kept == edited
            return
        assert not isinstance(edited, Refused)
        after = named(edited)
        for way, target in named(self.draft).items():
            if way not in touched:
                assert after[way] == target, way
        if edited != self.draft:
            self.states[self.at + 1 :] = [edited]
            self.at += 1

    def _walk(self, by: int) -> None:
        verb = service.undo if by < 0 else service.redo
        with self.world.uow.begin() as session:
            place = (session, self.row.workspace_id, self.row.public_id)
            seen = service.current(*place)
            assert seen is not None
            done = verb(*place, seen.version, make.ACTOR, self.world.clock.now())
        possible = 0 <= self.at + by < len(self.states)
        assert isinstance(done, service.Saved) == possible, done
        self.at += by if possible else 0

    def _op(self) -> tuple[editing.Edit, Ways]:
        """Return some edit of the draft, and the ways that it may lead elsewhere."""
        document, rng = self.draft, self.rng
        keys = [str(step["key"]) for step in document["steps"]]
        place = rng.choice(editing.places(document))
        at_place: Ways = {(place.after, place.exit), (place.after, None)} if place.after else set()
        kind = rng.choice(list(CONFIG))
        what = rng.choice(["insert", "delete", "delete", "move", "move_to", "duplicate"])
        if what == "insert" or not keys:
            key = editing.new_key(document, kind)
            return editing.insert(document, place, kind, key, CONFIG[kind]), at_place
        key = rng.choice(keys)
        own: Ways = {(key, way) for way in (None, "yes", "no")}
        if what == "delete":
            others: list[str | None] = [END, None, *(each for each in keys if each != key)]
            pointing = editing.pointers(document, key)
            relink: dict[Pointer, str | None] = {each: rng.choice(others) for each in pointing}
            touched: Ways = {(pointer.step, pointer.exit) for pointer in pointing}
            return editing.delete(document, key, relink), own | touched
        if what == "move":
            return editing.move(document, key, rng.choice([-1, 1])), set()
        if what == "move_to":
            return editing.move_to(document, key, place), {*at_place, (key, None)}
        return editing.duplicate(document, key), {(key, None)}

    def standing(self) -> tuple[int, str, int, Any]:
        """Return revision and visit of the person inside: its row, its key, when it is due."""
        with self.world.uow.read() as session:
            [run] = make.runs(session, self.row)
            visit: AutomationStepRun = make.visits(session, run)[-1]
            return run.revision_id, visit.step_key, visit.id, visit.due_at

    def in_force(self) -> tuple[int, list[str]]:
        """Return the row of the revision in force and the keys of its steps."""
        with self.world.uow.read() as session:
            found = service.find(session, self.row.workspace_id, self.row.public_id)
            assert found is not None
            revision = session.get_one(AutomationRevision, found.revision_id)
            return revision.id, [step["key"] for step in revision.document["steps"]]


@EACH
@given(seed=st.integers(0, 1_000_000))
def test_a_run_pinned_to_its_revision_is_never_disturbed(
    uow: UnitOfWork, clock: FixedClock, seed: int
) -> None:
    editor = Editor(World(uow, clock), random.Random(seed))
    pinned = editor.standing()
    for _ in range(LENGTH):
        editor.act()
        assert editor.standing() == pinned
    expected = path(editor.first)
    for _ in expected:
        clock.advance(WAIT)
        editor.world.walker.sweep()
    run = editor.world.run(editor.row)
    assert (run.status, run.revision_id) == ("completed", pinned[0])
    walked = [key for key, status in editor.world.log(editor.row) if status == "completed"]
    assert walked == expected


@EACH
@given(seed=st.integers(0, 1_000_000))
def test_who_is_moved_stands_at_the_same_step_and_who_cannot_be_stays(
    uow: UnitOfWork, clock: FixedClock, seed: int
) -> None:
    editor = Editor(World(uow, clock), random.Random(seed))
    for _ in range(3):
        for _ in range(LENGTH // 4):
            editor.act()
        revision, key, visit, due = editor.standing()
        done = editor.publish(service.MOVE)
        newest, keys = editor.in_force()
        moves = isinstance(done, service.Published) and done.new and key in keys
        assert editor.standing() == (newest if moves else revision, key, visit, due)
        if isinstance(done, service.Published):
            assert (done.moved, done.stayed) == ((1, 0) if moves else (0, 1))
