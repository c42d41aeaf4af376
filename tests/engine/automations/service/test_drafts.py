"""Drafts: what may be edited, duplicated and deleted in which status (facts 1.14, decision A8)."""

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations import service
from engine.automations.models import ACTIVE, AUTOMATION_STATUSES, DRAFT, PAUSED, Automation
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import automations as make
from tests.factories.world import World

PATHS = {DRAFT: [], ACTIVE: [ACTIVE], PAUSED: [ACTIVE, PAUSED]}
RAW = make.document(
    make.branch("ask", yes="end", no="wait"),
    make.delay("wait", 2, next="ask"),
    description="Who is who",
    on_pause="hold",
    reentry={"days": 7},
)


def at_status(session: Session, status: str, clock: FixedClock) -> Automation:
    workspace = accounts.workspace(session)
    saved = service.create(session, workspace.id, RAW, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    for step in PATHS[status]:
        place = (session, workspace.id, saved.public_id)
        service.move(*place, service.Wish(step), make.ACTOR, clock.now())
    row = service.find(session, workspace.id, saved.public_id)
    assert row is not None
    return row


@pytest.mark.parametrize("status", AUTOMATION_STATUSES)
def test_a_duplicate_is_a_draft_with_the_same_steps_and_no_history(
    session: Session, clock: FixedClock, status: str
) -> None:
    row = at_status(session, status, clock)
    place = (session, row.workspace_id, row.public_id)
    made = service.duplicate(*place, make.ACTOR, clock.now())
    assert isinstance(made, service.Saved)
    copy = service.find(session, row.workspace_id, made.public_id)
    assert copy is not None
    assert (copy.name, copy.status, copy.version) == ("Welcome (Copy)", DRAFT, 0)
    assert (copy.activated_at, copy.paused_at, copy.revision_id) == (None, None, None)
    assert (copy.stats_entered, copy.stats_active, copy.stats_completed) == (0, 0, 0)
    old, new = service.draft_document(session, row), service.draft_document(session, copy)
    assert new == {**old, "name": "Welcome (Copy)"}
    lines = session.scalars(select(AuditEntry).where(AuditEntry.resource_id == made.public_id))
    assert [(line.action, line.details["copied_from"]) for line in lines] == [
        ("automation.created", row.public_id)
    ]


def test_a_long_name_is_cut_so_that_the_word_fits(session: Session, clock: FixedClock) -> None:
    workspace = accounts.workspace(session)
    raw = {**RAW, "name": "x" * 200}
    saved = service.create(session, workspace.id, raw, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    place = (session, workspace.id, saved.public_id)
    made = service.duplicate(*place, make.ACTOR, clock.now())
    assert isinstance(made, service.Saved)
    copy = service.find(session, workspace.id, made.public_id)
    assert copy is not None
    assert copy.name == "x" * 193 + " (Copy)"


def test_further_copies_are_numbered_in_the_language_of_whoever_asks(
    session: Session, clock: FixedClock
) -> None:
    workspace = accounts.workspace(session)
    saved = service.create(session, workspace.id, RAW, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    place = (session, workspace.id, saved.public_id)
    names = []
    for word in ("Copy", "Copy", "Copy", "Kopie", "Kopie"):
        made = service.duplicate(*place, make.ACTOR, clock.now(), word)
        assert isinstance(made, service.Saved)
        copy = service.find(session, workspace.id, made.public_id)
        assert copy is not None
        names.append(copy.name.removeprefix("Welcome"))
    assert names == [" (Copy)", " (Copy 2)", " (Copy 3)", " (Kopie)", " (Kopie 2)"]


def test_what_another_workspace_has_cannot_be_duplicated(
    session: Session, clock: FixedClock
) -> None:
    row = at_status(session, DRAFT, clock)
    other = accounts.workspace(session).id
    outcome = service.duplicate(session, other, row.public_id, make.ACTOR, clock.now())
    assert outcome == Refused("automation_not_found", "missing")


@pytest.mark.parametrize("status", AUTOMATION_STATUSES)
def test_steps_trigger_and_name_may_be_edited_in_any_status(
    session: Session, clock: FixedClock, status: str
) -> None:
    row = at_status(session, status, clock)
    in_force = (row.trigger_type, row.revision_id)
    raw = make.document(make.delay("b"), trigger={"type": "contact_created"}, name="Renamed")
    place = (session, row.workspace_id, row.public_id)
    assert service.save(*place, raw, 1, make.ACTOR, clock.now()) == service.Saved(row.public_id, 2)
    after = service.find(session, row.workspace_id, row.public_id)
    assert after is not None
    assert after.name == "Renamed"
    if status == DRAFT:
        assert after.trigger_type == "contact_created"
    else:
        assert (after.trigger_type, after.revision_id) == in_force


@pytest.mark.parametrize("status", AUTOMATION_STATUSES)
def test_only_what_is_not_active_is_deleted(
    session: Session, clock: FixedClock, status: str
) -> None:
    row = at_status(session, status, clock)
    place = (session, row.workspace_id, row.public_id)
    outcome = service.remove(*place, make.ACTOR, clock.now())
    gone = service.find(session, row.workspace_id, row.public_id) is None
    expected = Refused("active_cannot_be_deleted") if status == ACTIVE else 0
    assert (outcome, gone) == (expected, status != ACTIVE)


def test_t_a8_who_is_parked_leaves_with_a_deleted_automation(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock)
    with uow.begin() as session:
        raw = make.document(make.delay("wait"), on_pause="hold")
        row = make.live(session, world.workspace_id, raw, clock.now())
    world.fire()
    with uow.begin() as session:
        place = (session, world.workspace_id, row.public_id)
        service.move(*place, service.Wish(PAUSED), make.ACTOR, clock.now())
    clock.advance(timedelta(days=2))
    world.walker.sweep()
    assert world.visits(row)[0].held_at is not None
    with uow.begin() as session:
        place = (session, world.workspace_id, row.public_id)
        assert service.remove(*place, make.ACTOR, clock.now()) == 1
    run = world.run(row)
    assert (run.status, run.ended_reason) == ("cancelled", "automation_deleted")
    assert world.log(row) == [("wait", "failed")]
