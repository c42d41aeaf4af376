"""Moves between statuses: activate, pause, stop, resume, start afresh, revert to draft."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from engine.automations import entries, holding, lifecycle, run_lifecycle
from engine.automations.document import read_document
from engine.automations.models import ACTIVE, DRAFT, HOLD, PAUSED, Automation, AutomationRun
from engine.automations.overdue import count_overdue
from engine.automations.service.finding import draft_document, find, lock, people_inside, subject_of
from engine.automations.service.freezing import answer_requests, checked, freeze, resuming
from engine.core import audit
from engine.core.audit import Actor, Scalar
from engine.core.outcome import Recorded, Refused, Transitioned, invalid, missing

STOPPED: Final = "automation.stopped"


@dataclass(frozen=True)
class Wish:
    """What a transition asks for beside the status (interface.md, decisions A9, A11).

    resume: `shift`, `overdue` or `skip`, where people were held; start_afresh: a new activation,
    after which everything may fire again; cancel_inside: with `paused`, end everybody inside;
    answer: of an activation, words to whoever asked for it.
    """

    to: str
    resume: str | None = None
    start_afresh: bool = False
    cancel_inside: bool = False
    answer: str | None = None


@dataclass(frozen=True)
class StatusChange:
    """What a move did. people_inside: with a running run after it; cancelled: ended by a Stop;

    due_now: people whose next step is due at once after a resume; told: what its audit line says
    of the people inside, as `_pause` and `_facts` have it.
    """

    outcome: Transitioned | Recorded
    people_inside: int
    cancelled: int = 0
    due_now: int = 0
    told: Mapping[str, Scalar] = field(default_factory=dict)


def move(
    session: Session, workspace_id: int, public_id: str, wish: Wish, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Do as `change_status`, without the counts."""
    changed = change_status(session, workspace_id, public_id, wish, actor, at)
    return changed if isinstance(changed, Refused) else changed.outcome


def change_status(
    session: Session, workspace_id: int, public_id: str, wish: Wish, actor: Actor, at: datetime
) -> StatusChange | Refused:
    """Activate, pause, stop, resume, start afresh or revert; say what became of people inside.

    Activating a draft freezes it as a revision (A8); a resume publishes nothing. A choice that
    does not fit the automation is invalid: `nothing_held`, `start_afresh_needs_active`,
    `cancel_inside_needs_paused`.
    """
    found = find(session, workspace_id, public_id)
    row = None if found is None else lock(session, found, shut=wish.cancel_inside)
    if row is None:
        return missing("automation_not_found")
    refused = _misfit(row, wish)
    if refused is not None:
        return refused
    if wish.to == ACTIVE and row.status == DRAFT:
        return _counted(session, row, _activate(session, row, wish, actor, at))
    if wish.to == ACTIVE:
        return _go_on(session, row, wish, actor, at)
    if wish.to == PAUSED:
        return _pause(session, row, wish, actor, at)
    ask = lifecycle.Ask(wish.to, inside=people_inside(session, workspace_id, row.id))
    return _counted(session, row, lifecycle.move(session, row.id, ask, actor, at))


def _misfit(row: Automation, wish: Wish) -> Refused | None:
    held = wish.to == ACTIVE and row.status != DRAFT and row.on_pause == HOLD
    if wish.resume is not None and not held:
        return invalid("nothing_held", "/resume")
    if wish.start_afresh and wish.to != ACTIVE:
        return invalid("start_afresh_needs_active", "/start_afresh")
    if wish.cancel_inside and wish.to != PAUSED:
        return invalid("cancel_inside_needs_paused", "/cancel_inside")
    return None


def _counted(
    session: Session,
    row: Automation,
    outcome: Transitioned | Recorded | Refused,
    cancelled: int = 0,
    due_now: int = 0,
    told: Mapping[str, Scalar] | None = None,
) -> StatusChange | Refused:
    if isinstance(outcome, Refused):
        return outcome
    inside = holding.count_inside(session, row.workspace_id, row.id)
    return StatusChange(outcome, inside, cancelled, due_now, told or {})


def _activate(
    session: Session, row: Automation, wish: Wish, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Freeze the draft and put it in force; a refusal leaves no revision behind."""
    content = draft_document(session, row)
    document = read_document(content)
    if isinstance(document, Refused):
        return document
    ask = checked(session, row, document)
    refused = lifecycle.unfit(ask)
    if refused is not None:
        return refused
    if entries.limits(document.reentry):
        entries.remember(session, row.workspace_id, row.id)
    ask = replace(ask, frozen=freeze(session, row, content, document, actor, at))
    outcome = lifecycle.move(session, row.id, ask, actor, at)
    if isinstance(outcome, Transitioned):
        answer_requests(session, row, content, wish.answer, actor, at)
    return outcome


def _go_on(
    session: Session, row: Automation, wish: Wish, actor: Actor, at: datetime
) -> StatusChange | Refused:
    """Resume, or start afresh; whoever was held goes on as chosen (decision A11)."""
    before, since = row.status, row.paused_at or at
    choice = wish.resume or holding.SHIFT
    resume = holding.Resume(row.workspace_id, row.id, row.on_pause, since, choice, actor.name)
    told = _facts(session, resume, at) if before == PAUSED else {}
    ask = replace(resuming(session, row, afresh=wish.start_afresh), told=told)
    outcome = lifecycle.move(session, row.id, ask, actor, at)
    due_now = 0
    if isinstance(outcome, Transitioned) and before == PAUSED:
        due_now = holding.let_go(session, resume, at)
    return _counted(session, row, outcome, due_now=due_now, told=told)


def _facts(session: Session, resume: holding.Resume, at: datetime) -> Mapping[str, Scalar]:
    """Return inside and paused_seconds; where people were held, also resume (the choice), overdue.

    overdue: for how many the time of a step had come, which is whom the choice is about.
    """
    found: dict[str, Scalar] = {
        "inside": holding.count_inside(session, resume.workspace_id, resume.automation_id),
        "paused_seconds": int((at - resume.paused_at).total_seconds()),
    }
    if resume.on_pause == HOLD:
        overdue = count_overdue(session, resume.workspace_id, resume.automation_id, at)
        found |= {"resume": resume.choice, "overdue": overdue}
    return found


def _pause(
    session: Session, row: Automation, wish: Wish, actor: Actor, at: datetime
) -> StatusChange | Refused:
    """Pause; a Stop ends everybody inside too, also where it was paused already."""
    inside = holding.count_inside(session, row.workspace_id, row.id)
    told: dict[str, Scalar] = {"on_pause": row.on_pause, "inside": inside}
    outcome = lifecycle.move(session, row.id, lifecycle.Ask(PAUSED, told=told), actor, at)
    cancelled = 0
    if wish.cancel_inside and not isinstance(outcome, Refused):
        run = AutomationRun
        where = [run.workspace_id == row.workspace_id, run.automation_id == row.id]
        cancelled = holding.cancel_inside(session, where, run_lifecycle.STOPPED, at)
        details = {"runs_cancelled": cancelled}
        audit.record(session, subject_of(row), STOPPED, actor, at, details)
    return _counted(session, row, outcome, cancelled=cancelled, told=told)
