"""The edge matrix of automations, generated from the constants; audit and patches (facts 1.13)."""

from datetime import timedelta
from itertools import product

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations import lifecycle, service
from engine.automations.models import (
    ACTIVE,
    AUTOMATION_STATUSES,
    DRAFT,
    PAUSED,
    Automation,
    AutomationRevision,
)
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.outbox import ProductEvent
from engine.core.outcome import Recorded, Refused, Transitioned
from tests.factories import accounts, audience
from tests.factories import automations as make

PATHS = {DRAFT: [], ACTIVE: [ACTIVE], PAUSED: [ACTIVE, PAUSED]}


def at_status(session: Session, status: str, clock: FixedClock) -> Automation:
    """Return an automation that went to `status` by legal edges."""
    workspace = accounts.workspace(session)
    raw = make.document(make.delay("a"))
    saved = service.create(session, workspace.id, raw, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    for step in PATHS[status]:
        clock.advance(timedelta(minutes=1))
        service.move(
            session, workspace.id, saved.public_id, service.Wish(step), make.ACTOR, clock.now()
        )
    row = service.find(session, workspace.id, saved.public_id)
    assert row is not None
    assert row.status == status
    return row


def audits(session: Session, row: Automation) -> list[AuditEntry]:
    """Return the audit lines of an automation after its creation."""
    return list(
        session.scalars(
            select(AuditEntry)
            .where(
                AuditEntry.resource_id == row.public_id, AuditEntry.action != "automation.created"
            )
            .order_by(AuditEntry.id)
        )
    )


def told(session: Session) -> list[str]:
    """Return the names of the product events so far."""
    return list(session.scalars(select(ProductEvent.name).order_by(ProductEvent.id)))


EVENTS = {
    (DRAFT, ACTIVE): "automation_activated",
    (ACTIVE, PAUSED): "automation_paused",
    (PAUSED, ACTIVE): "automation_resumed",
    (PAUSED, DRAFT): "automation_reverted_to_draft",
}


@pytest.mark.parametrize(("before", "after"), list(product(AUTOMATION_STATUSES, repeat=2)))
def test_every_pair_of_statuses_is_legal_recorded_or_refused(
    session: Session, clock: FixedClock, before: str, after: str
) -> None:
    row = at_status(session, before, clock)
    lines, events = len(audits(session, row)), len(told(session))
    updated = row.updated_at
    clock.advance(timedelta(minutes=1))
    wish = service.Wish(after)
    outcome = service.move(session, row.workspace_id, row.public_id, wish, make.ACTOR, clock.now())
    session.flush()
    new = audits(session, row)[lines:]
    expected = [EVENTS[before, after]] if (before, after) in lifecycle.LEGAL_EDGES else []
    assert told(session)[events:] == expected
    if before == after:
        assert outcome == Recorded(before)
        assert [line.details["no_op"] for line in new] == [True]
        assert row.updated_at == updated
    elif (before, after) in lifecycle.LEGAL_EDGES:
        assert outcome == Transitioned(before, after)
        assert [line.details["applied"] for line in new] == ["transitioned"]
        assert (row.status, row.updated_at) == (after, clock.now())
    else:
        assert outcome == Refused("illegal_edge")
        assert new == []
        assert row.status == before


def test_activation_counts_and_resume_keeps_the_version(
    session: Session, clock: FixedClock
) -> None:
    row = at_status(session, ACTIVE, clock)
    first = row.activated_at
    assert (row.version, row.first_activated_at) == (1, first)
    clock.advance(timedelta(minutes=5))
    for to in (PAUSED, ACTIVE):
        service.move(
            session, row.workspace_id, row.public_id, service.Wish(to), make.ACTOR, clock.now()
        )
    assert (row.version, row.activated_at, row.first_activated_at) == (1, clock.now(), first)
    assert row.paused_at is None
    assert [line.action for line in audits(session, row)] == [
        "automation.activated",
        "automation.paused",
        "automation.resumed",
    ]


def test_activation_of_an_empty_draft_is_refused(session: Session, clock: FixedClock) -> None:
    workspace = accounts.workspace(session)
    saved = service.create(session, workspace.id, make.document(), make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    wish = service.Wish(ACTIVE)
    outcome = service.move(session, workspace.id, saved.public_id, wish, make.ACTOR, clock.now())
    assert outcome == Refused("no_steps")


def test_a_trigger_without_its_config_is_refused_before_the_check(
    session: Session, clock: FixedClock
) -> None:
    workspace = accounts.workspace(session)
    raw = make.document(make.email("a", None), trigger={"type": "event_received"})
    saved = service.create(session, workspace.id, raw, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    wish = service.Wish(ACTIVE)
    outcome = service.move(session, workspace.id, saved.public_id, wish, make.ACTOR, clock.now())
    assert outcome == Refused("invalid_trigger_config")


def test_what_would_fail_for_certain_is_refused_and_leaves_no_revision(
    session: Session, clock: FixedClock
) -> None:
    workspace = accounts.workspace(session)
    raw = make.document(make.email("a", None), {"key": "b", "type": "delay", "config": {}})
    saved = service.create(session, workspace.id, raw, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)
    wish = service.Wish(ACTIVE)
    outcome = service.move(session, workspace.id, saved.public_id, wish, make.ACTOR, clock.now())
    assert isinstance(outcome, Refused)
    assert outcome.reason == "check_failed"
    assert {problem.pointer: problem.code for problem in outcome.problems} == {
        "/steps/0/config/template_id": "template_missing",
        "": "no_sender",
        "/steps/1/config/duration": "delay_without_duration",
    }
    assert session.scalars(select(AutomationRevision)).all() == []


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        (service.Wish(ACTIVE, resume="shift"), "nothing_held"),
        (service.Wish(PAUSED, start_afresh=True), "start_afresh_needs_active"),
        (service.Wish(ACTIVE, cancel_inside=True), "cancel_inside_needs_paused"),
    ],
)
def test_a_choice_that_does_not_fit_is_refused(
    session: Session, clock: FixedClock, wish: service.Wish, reason: str
) -> None:
    row = at_status(session, PAUSED, clock)
    outcome = service.move(session, row.workspace_id, row.public_id, wish, make.ACTOR, clock.now())
    assert isinstance(outcome, Refused)
    assert (outcome.reason, outcome.kind) == (reason, "invalid")
    assert row.status == PAUSED


@pytest.mark.parametrize("before", [ACTIVE, PAUSED])
def test_start_afresh_is_a_new_activation_and_no_self_loop(
    session: Session, clock: FixedClock, before: str
) -> None:
    row = at_status(session, before, clock)
    first, events = row.first_activated_at, len(told(session))
    clock.advance(timedelta(minutes=1))
    wish = service.Wish(ACTIVE, start_afresh=True)
    outcome = service.move(session, row.workspace_id, row.public_id, wish, make.ACTOR, clock.now())
    session.flush()
    assert outcome == Transitioned(before, ACTIVE)
    assert (row.version, row.activated_at, row.first_activated_at) == (2, clock.now(), first)
    assert row.paused_at is None
    line = audits(session, row)[-1]
    assert (line.action, line.details["reactivated"]) == ("automation.activated", True)
    assert "no_op" not in line.details
    assert told(session)[events:] == ["automation_activated"]


def test_a_live_automation_keeps_running_its_revision_while_the_draft_changes(
    session: Session, clock: FixedClock
) -> None:
    row = at_status(session, ACTIVE, clock)
    raw = make.document(make.delay("b", 2), trigger={"type": "contact_created"}, name="New name")
    saved = service.save(session, row.workspace_id, row.public_id, raw, 1, make.ACTOR, clock.now())
    assert saved == service.Saved(row.public_id, 2)
    assert service.find(session, row.workspace_id, row.public_id) is row
    assert (row.trigger_type, row.name) == ("event_received", "New name")
    person = audience.contact(session, row.workspace_id)
    assert make.fire(session, row.workspace_id, [person], clock.now()) == 1
    run = make.runs(session, row)[0]
    assert make.visits(session, run)[0].step_key == "a"


def test_a_stale_draft_is_refused(session: Session, clock: FixedClock) -> None:
    row = at_status(session, DRAFT, clock)
    raw = make.document(make.delay("b"))
    for version, expected in ((2, Refused("stale")), (1, service.Saved(row.public_id, 2))):
        saved = service.save(
            session, row.workspace_id, row.public_id, raw, version, make.ACTOR, clock.now()
        )
        assert saved == expected


def test_an_active_automation_is_not_deleted(session: Session, clock: FixedClock) -> None:
    row = at_status(session, ACTIVE, clock)
    outcome = service.remove(session, row.workspace_id, row.public_id, make.ACTOR, clock.now())
    assert outcome == Refused("active_cannot_be_deleted")
    assert row.deleted_at is None


def test_the_fifth_failed_run_in_a_row_pauses_by_the_breaker(
    session: Session, clock: FixedClock
) -> None:
    row = at_status(session, ACTIVE, clock)
    lifecycle.record_failures(session, {row.id: 4}, clock.now())
    session.refresh(row)
    assert (row.status, row.consecutive_run_failures) == (ACTIVE, 4)
    lifecycle.record_failures(session, {row.id: 1}, clock.now())
    session.flush()
    assert (row.status, row.paused_at, row.consecutive_run_failures) == (PAUSED, clock.now(), 5)
    line = audits(session, row)[-1]
    assert (line.actor, line.action) == ("system:automation-breaker", "automation.paused")
    assert line.details["consecutive_run_failures"] == 5
    assert told(session) == ["automation_activated", "automation_paused"]
    lines = len(audits(session, row))
    lifecycle.record_failures(session, {row.id: 3}, clock.now())
    session.flush()
    assert len(audits(session, row)) == lines


def test_t_a6_the_breaker_counts_consecutive_failures(session: Session, clock: FixedClock) -> None:
    row = at_status(session, ACTIVE, clock)
    for _ in range(3):
        lifecycle.record_failures(session, {row.id: 4}, clock.now())
        lifecycle.record_successes(session, [row.id], clock.now())
    session.refresh(row)
    assert (row.status, row.consecutive_run_failures) == (ACTIVE, 0)
    lifecycle.record_failures(session, {row.id: 5}, clock.now())
    session.flush()
    service.move(
        session, row.workspace_id, row.public_id, service.Wish(ACTIVE), make.ACTOR, clock.now()
    )
    assert (row.status, row.consecutive_run_failures) == (ACTIVE, 0)
