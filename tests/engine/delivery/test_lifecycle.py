"""The status of a send: every pair of statuses, through both doors of the machine (facts 4.14)."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.core.audit import Actor, AuditEntry
from engine.core.machine import transition, transition_many
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.delivery.lifecycle import EDGES, SENDS, Failed, Reported, SendInput, Sent
from engine.delivery.models import (
    BOUNCED,
    CLICKED,
    COMPLAINED,
    DELIVERED,
    FAILED,
    OPENED,
    QUEUED,
    SENT,
    STATUSES,
    EmailSend,
)
from tests.factories import accounts, delivery

ACTOR: Final = Actor("system:test")
# facts 4.14, written down a second time on purpose.
LEGAL: Final = {
    QUEUED: {SENT, FAILED},
    SENT: {DELIVERED, OPENED, CLICKED, BOUNCED, COMPLAINED, FAILED},
    DELIVERED: {OPENED, CLICKED, BOUNCED, COMPLAINED},
    OPENED: {CLICKED, BOUNCED, COMPLAINED},
    CLICKED: {BOUNCED, COMPLAINED},
    BOUNCED: {COMPLAINED},
    COMPLAINED: set(),
    FAILED: set(),
}


def asking(status: str) -> SendInput:
    """Return the input that asks for a status."""
    if status == SENT:
        return Sent("<m@acme.example>", "250 ok")
    return Failed("SERVER_ERROR", "451") if status == FAILED else Reported(status)


@pytest.fixture
def workspace(session: Session) -> int:
    """Return a workspace in the test's session."""
    return accounts.workspace(session).id


@pytest.mark.parametrize("before", STATUSES)
def test_one_send_moves_along_legal_edges_alone(
    session: Session, workspace: int, before: str
) -> None:
    for after in STATUSES:
        row = delivery.send(session, workspace, before)
        answer = transition(session, SENDS, row.id, asking(after), ACTOR, accounts.AT)
        legal = after in LEGAL[before]
        expected: Recorded | Refused | Transitioned = Refused("illegal_edge")
        if before == after:
            expected = Recorded(before)
        elif legal:
            expected = Transitioned(before, after)
        assert answer == expected, after
        session.refresh(row)
        assert row.status == (after if legal else before)


@pytest.mark.parametrize("before", STATUSES)
def test_many_sends_move_along_legal_edges_alone(
    session: Session, workspace: int, before: str
) -> None:
    mine = [EmailSend.workspace_id == workspace]
    for after in STATUSES:
        rows = [delivery.send(session, workspace, status) for status in (before, before, after)]
        if (before, after) not in EDGES:
            with pytest.raises(ValueError, match="is no edge"):
                transition_many(session, SENDS, (before, after), mine, {})
            continue
        moved = {row.id for row in transition_many(session, SENDS, (before, after), mine, {})}
        assert {row.id for row in rows[:2]} <= moved
        assert (rows[2].id in moved) == (before == after)


def test_both_doors_know_the_same_edges() -> None:
    stays = {(QUEUED, QUEUED), (BOUNCED, BOUNCED)}
    assert {
        (before, after) for before, targets in LEGAL.items() for after in targets
    } | stays == EDGES


@settings(max_examples=60)
@given(asked=st.lists(st.sampled_from(STATUSES), max_size=8))
def test_any_history_stays_legal(session: Session, workspace: int, asked: list[str]) -> None:
    row = delivery.send(session, workspace, QUEUED)
    status = QUEUED
    for wanted in asked:
        transition(session, SENDS, row.id, asking(wanted), ACTOR, accounts.AT)
        session.refresh(row)
        assert row.status == status or row.status in LEGAL[status]
        status = row.status


def test_a_failure_leaves_its_code_and_an_audit_line(session: Session, workspace: int) -> None:
    row = delivery.send(session, workspace, QUEUED)
    asked = Failed("INVALID_RECIPIENT", "550 nobody")
    transition(session, SENDS, row.id, asked, ACTOR, accounts.AT)
    assert (row.error_code, row.error_message) == ("INVALID_RECIPIENT", "550 nobody")
    assert row.failed_at == accounts.AT
    session.flush()
    (line,) = session.scalars(select(AuditEntry).where(AuditEntry.resource == "send"))
    assert (line.action, line.details["code"]) == ("send.failed", "INVALID_RECIPIENT")
