"""Edits under the optimistic lock, undo and redo, restore: one history a draft (decision A8)."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations import editing, service
from engine.automations.editing import Place
from engine.automations.models import Automation, DraftState
from engine.automations.queries.drafts import History, history
from engine.automations.service import Act
from engine.automations.service.keeping import STATES
from engine.core.audit import Actor, AuditEntry
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from tests.factories import accounts
from tests.factories import automations as make

RAW = make.document(
    make.delay("wait", 5, next=None),
    make.branch("ask", yes="end", no=None, next=None),
    make.delay("last", 1, next=None),
    on_pause="cancel",
    reentry="after_end",
)
OTHER = Actor("user:other")
Op = Callable[[dict[str, Any]], editing.Edit]


class Desk:
    """Somebody who edits one draft and always has its newest version."""

    def __init__(self, session: Session, clock: FixedClock) -> None:
        self.session, self.clock = session, clock
        self.workspace_id = accounts.workspace(session).id
        made = service.create(session, self.workspace_id, RAW, make.ACTOR, clock.now())
        assert isinstance(made, service.Saved)
        self.id, self.version = made.public_id, made.version

    @property
    def place(self) -> tuple[Session, int, str]:
        return self.session, self.workspace_id, self.id

    def keep(self, saved: service.Saved | Refused) -> service.Saved | Refused:
        if isinstance(saved, service.Saved):
            self.version = saved.version
        return saved

    def edit(self, op: Op, code: str = "configure", **params: str | int) -> service.Saved | Refused:
        act, at = Act(code, params), self.clock.now()
        saved = service.edit(*self.place, self.version, op, act, make.ACTOR, at)
        return self.keep(saved)

    def undo(self) -> service.Saved | Refused:
        at = self.clock.now()
        return self.keep(service.undo(*self.place, self.version, make.ACTOR, at))

    def redo(self) -> service.Saved | Refused:
        at = self.clock.now()
        return self.keep(service.redo(*self.place, self.version, make.ACTOR, at))

    def draft(self) -> dict[str, Any]:
        found = service.current(*self.place)
        assert found is not None
        return found.document

    def row(self) -> Automation:
        row = service.find(*self.place)
        assert row is not None
        return row

    def history(self) -> History:
        return history(self.session, self.workspace_id, self.row().id)

    def states(self) -> int:
        return self.session.scalar(select(func.count()).select_from(DraftState)) or 0


def waiting(duration: float) -> Op:
    config = {"duration": duration, "unit": "days"}
    return partial(editing.configure, key="wait", config=config, next_=None)


@pytest.fixture
def desk(session: Session, clock: FixedClock) -> Desk:
    return Desk(session, clock)


def test_an_edit_is_kept_and_told_with_its_act(desk: Desk) -> None:
    op = partial(editing.insert, place=Place("wait"), kind="topic", key="join")
    assert desk.edit(op, "insert", step="join") == service.Saved(desk.id, 2)
    assert desk.draft() == editing.insert(RAW, Place("wait"), "topic", "join")
    line = desk.session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert line is not None
    assert (line.action, line.details) == (
        "automation.updated",
        {"draft_version": 2, "act": "insert", "step": "join"},
    )


def test_tim_05_saving_the_same_five_times_changes_nothing(desk: Desk) -> None:
    desk.edit(waiting(7))
    kept = (desk.draft(), desk.version, desk.states(), desk.history())
    for _ in range(5):
        desk.clock.advance(timedelta(minutes=1))
        assert desk.edit(waiting(7)) == service.Saved(desk.id, 2)
        at = desk.clock.now()
        saved = service.save(*desk.place, desk.draft(), desk.version, make.ACTOR, at)
        assert saved == service.Saved(desk.id, 2)
    assert (desk.draft(), desk.version, desk.states(), desk.history()) == kept
    lines = select(func.count()).where(AuditEntry.action == "automation.updated")
    assert desk.session.scalar(lines) == 1


def test_true_is_not_one_to_a_rule(desk: Desk) -> None:
    def rule(value: object) -> Op:
        condition = {"kind": "contact_property", "field": "vip", "operator": "equals"}
        config = {"condition": {**condition, "value": value}, "yes": "end", "no": None}
        return partial(editing.configure, key="ask", config=config, next_=None)

    assert desk.edit(rule(1)) == service.Saved(desk.id, 2)
    assert desk.edit(rule(True)) == service.Saved(desk.id, 3)
    assert desk.draft()["steps"][1]["config"]["condition"]["value"] is True


@pytest.mark.parametrize("verb", ["edit", "undo", "redo", "restore", "save"])
def test_who_has_seen_an_older_draft_changes_nothing(desk: Desk, verb: str) -> None:
    desk.edit(waiting(7))
    kept, acting = desk.draft(), (make.ACTOR, desk.clock.now())
    outcome = {
        "edit": lambda: service.edit(*desk.place, 1, waiting(9), Act("configure"), *acting),
        "undo": lambda: service.undo(*desk.place, 1, *acting),
        "redo": lambda: service.redo(*desk.place, 1, *acting),
        "restore": lambda: service.restore(*desk.place, 1, 1, *acting),
        "save": lambda: service.save(*desk.place, RAW, 1, *acting),
    }[verb]()
    assert outcome == Refused("stale")
    assert (desk.draft(), desk.states()) == (kept, 2)


def test_what_lands_between_reading_and_writing_is_not_overwritten(desk: Desk) -> None:
    renamed = {**RAW, "name": "Renamed"}

    def meanwhile(document: dict[str, Any]) -> editing.Edit:
        theirs = service.save(*desk.place, renamed, 1, OTHER, desk.clock.now())
        assert theirs == service.Saved(desk.id, 2)
        return waiting(9)(document)

    assert desk.edit(meanwhile) == Refused("stale")
    assert (desk.draft(), desk.states()) == (renamed, 2)


@pytest.mark.parametrize("foreign", [True, False])
def test_an_unknown_draft_is_not_edited(desk: Desk, *, foreign: bool) -> None:
    workspace = accounts.workspace(desk.session).id if foreign else desk.workspace_id
    place = (desk.session, workspace, desk.id if foreign else desk.id[:-1] + "_")
    acting = (make.ACTOR, desk.clock.now())
    unknown = Refused("automation_not_found", "missing")
    assert service.edit(*place, 1, waiting(9), Act("configure"), *acting) == unknown
    assert service.undo(*place, 1, *acting) == unknown
    assert service.redo(*place, 1, *acting) == unknown
    assert service.restore(*place, 1, 1, *acting) == unknown
    assert service.current(*place) is None


def test_an_edit_that_is_refused_leaves_the_draft(desk: Desk) -> None:
    gone = partial(editing.delete, key="gone")
    assert desk.edit(gone, "delete") == Refused("step_not_found", "missing")
    config = RAW["steps"][0]["config"]
    outcome = desk.edit(partial(editing.configure, key="wait", config=config, next_="wait"))
    assert isinstance(outcome, Refused)
    assert [problem.code for problem in outcome.problems] == ["endless_cycle"]
    assert (desk.draft(), desk.version, desk.states()) == (RAW, 1, 0)


def test_undo_and_redo_walk_over_all_states(desk: Desk) -> None:
    ops: list[tuple[str, Op]] = [
        ("insert", partial(editing.insert, place=Place("ask", "no"), kind="topic", key="join")),
        ("duplicate", partial(editing.duplicate, key="ask")),
        ("move", partial(editing.move, key="last", by=-1)),
        ("delete", partial(editing.delete, key="wait")),
    ]
    states = [desk.draft()]
    for code, op in ops:
        assert isinstance(desk.edit(op, code), service.Saved)
        states.append(desk.draft())
    for state in reversed(states[:-1]):
        assert isinstance(desk.undo(), service.Saved)
        assert desk.draft() == state
    assert desk.undo() == Refused("nothing_to_undo")
    for state in states[1:]:
        assert isinstance(desk.redo(), service.Saved)
        assert desk.draft() == state
    assert desk.redo() == Refused("nothing_to_redo")
    assert desk.version == 1 + 3 * len(ops)


def test_the_buttons_say_what_they_would_undo_and_redo(desk: Desk) -> None:
    assert desk.history() == History()
    begun = desk.clock.now()
    desk.clock.advance(timedelta(hours=1))
    desk.edit(waiting(7), "configure", step="wait")
    done = Act("configure", {"step": "wait"})
    assert desk.history() == History(done, None, make.ACTOR.name, desk.clock.now())
    desk.clock.advance(timedelta(hours=1))
    desk.undo()
    assert desk.history() == History(None, done, make.ACTOR.name, begun)


def test_a_new_edit_forgets_what_was_undone(desk: Desk) -> None:
    desk.edit(waiting(7))
    desk.undo()
    desk.edit(waiting(9))
    assert desk.redo() == Refused("nothing_to_redo")
    desk.undo()
    assert desk.draft() == RAW


def test_what_somebody_else_did_is_undone_as_well(desk: Desk) -> None:
    desk.edit(waiting(7))
    mine = desk.draft()
    acting = (OTHER, desk.clock.now())
    raw = {**mine, "name": "Renamed"}
    theirs = service.save(*desk.place, raw, desk.version, *acting)
    assert isinstance(theirs, service.Saved)
    assert desk.undo() == Refused("stale")
    seen = service.current(*desk.place)
    assert seen is not None
    assert (seen.document["name"], seen.version, seen.by, seen.at) == (
        "Renamed",
        theirs.version,
        OTHER.name,
        desk.clock.now(),
    )
    desk.keep(theirs)
    assert isinstance(desk.undo(), service.Saved)
    assert desk.draft() == mine
    seen = service.current(*desk.place)
    assert seen is not None
    assert seen.by == make.ACTOR.name


def test_the_newest_states_stay_and_undo_ends_at_the_oldest(desk: Desk) -> None:
    for days in range(10, 10 + STATES + 5):
        desk.edit(waiting(days))
    assert desk.states() == STATES
    undone = 0
    while isinstance(desk.undo(), service.Saved):
        undone += 1
    assert undone == STATES - 1
    assert desk.draft()["steps"][0]["config"]["duration"] == 10 + 5


def test_states_of_one_draft_are_nothing_to_another(desk: Desk) -> None:
    twin = service.create(desk.session, desk.workspace_id, RAW, make.ACTOR, desk.clock.now())
    assert isinstance(twin, service.Saved)
    desk.edit(waiting(7))
    at = desk.clock.now()
    place = (desk.session, desk.workspace_id, twin.public_id)
    assert service.undo(*place, 1, make.ACTOR, at) == Refused("nothing_to_undo")


def test_undo_shows_the_trigger_of_a_draft_that_never_was_live(desk: Desk) -> None:
    desk.edit(partial(editing.set_trigger, kind="contact_created", config={}), "trigger")
    assert desk.row().trigger_type == "contact_created"
    desk.undo()
    row = desk.row()
    assert (row.trigger_type, row.trigger_config) == ("event_received", {"event_name": "go"})


def test_an_edit_of_a_live_automation_touches_nothing_in_force(desk: Desk) -> None:
    acting = (make.ACTOR, desk.clock.now())
    service.change_status(*desk.place, service.Wish("active"), *acting)
    desk.edit(partial(editing.set_trigger, kind="contact_created", config={}), "trigger")
    row = desk.row()
    assert (row.status, row.trigger_type) == ("active", "event_received")


def test_a_revision_becomes_the_draft_again(desk: Desk) -> None:
    acting = (make.ACTOR, desk.clock.now())
    gone = Refused("revision_not_found", "missing")
    assert service.restore(*desk.place, 1, desk.version, *acting) == gone
    service.change_status(*desk.place, service.Wish("active"), *acting)
    desk.edit(waiting(7))
    changed = desk.draft()
    published = service.publish(*desk.place, service.STAY, *acting)
    assert isinstance(published, service.Published)
    saved = desk.keep(service.restore(*desk.place, 1, desk.version, *acting))
    assert saved == service.Saved(desk.id, 3)
    assert desk.draft() == RAW
    assert desk.history().undo == Act("restore", {"number": 1})
    desk.undo()
    assert desk.draft() == changed
