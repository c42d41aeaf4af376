"""Why, or why not: what kept a person out of an automation, or let them in (architecture 6).

What was decided at the time is read from runs and recorded decisions; what nobody recorded is
judged as of now, by the same rules, and says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.automations.models import (
    RUNNING,
    Automation,
    AutomationRun,
    TriggerDecision,
)
from engine.automations.queries import entry_checks
from engine.automations.queries.entry_checks import BARS, Check, EventRef, RunRef
from engine.core.db import JsonObject
from engine.core.ids import is_public_id

# Answers beside the reasons of `deciding` and the codes of the checks that bar.
INSIDE: Final = "inside"
ENTERED: Final = "entered"
NOT_RECORDED: Final = "not_recorded"
# So many of each are read and shown; the newest say why.
_RUNS: Final = 20
_DECISIONS: Final = 10


@dataclass(frozen=True)
class DecisionRow:
    """A recorded refusal. event_row: the event's row, which may be forgotten by now."""

    reason: str
    details: JsonObject
    version: int
    decided_at: datetime
    event_row: int | None

    @property
    def told(self) -> dict[str, str | int]:
        """Return the details that words may need: texts and numbers."""
        return {key: each for key, each in self.details.items() if isinstance(each, str | int)}


@dataclass(frozen=True)
class Explanation:
    """Why a person is or is not in an automation.

    inside: public id of the running run; past: all runs, newest first. answer: inside, entered, a
    reason of `deciding`, the code of the first check that bars, or not_recorded; recorded: whether
    it was noted at the time, else it is judged as of now.
    """

    contact_id: str
    automation_id: str
    automation_name: str
    deleted: bool
    status: str
    inside: str | None
    past: Sequence[RunRef]
    event: EventRef | None
    decisions: Sequence[DecisionRow]
    checks: tuple[Check, ...]
    answer: str
    params: Mapping[str, str | int]
    recorded: bool


def explain(
    session: Session, workspace_id: int, automation_id: str, contact_id: str, at: datetime
) -> Explanation | None:
    """Return why; None for an unknown automation or contact. Deleted automations are readable.

    A bounded number of statements: at most nine.
    """
    if not is_public_id(automation_id) or not is_public_id(contact_id):
        return None
    row = session.scalar(
        select(Automation).where(
            Automation.workspace_id == workspace_id, Automation.public_id == automation_id
        )
    )
    person = audience.get_contact(session, workspace_id, contact_id)
    if row is None or person is None:
        return None
    runs = _runs(session, row, person.row_id)
    matching, event = entry_checks.matching(session, row, person.row_id)
    decisions = _decisions(session, row, person.row_id)
    running = next((run for run in runs if run.status == RUNNING), None)
    checks = (
        entry_checks.active(row),
        *matching,
        *(() if event is None else (entry_checks.activation(row, event),)),
        entry_checks.inside(running),
        entry_checks.reentry(session, row, person.row_id, runs, at),
        *entry_checks.fired(session, row, contact_id),
        entry_checks.mail(session, workspace_id, person),
    )
    answer, params, recorded = _answer(runs, running, event, decisions, checks)
    return Explanation(
        contact_id,
        automation_id,
        row.name,
        row.deleted_at is not None,
        row.status,
        running.public_id if running else None,
        runs,
        event,
        decisions,
        checks,
        answer,
        params,
        recorded,
    )


def _answer(
    runs: Sequence[RunRef],
    running: RunRef | None,
    event: EventRef | None,
    decisions: Sequence[DecisionRow],
    checks: Sequence[Check],
) -> tuple[str, Mapping[str, str | int], bool]:
    if running is not None:
        return INSIDE, {"run": running.public_id}, True
    last = event.row_id if event else None
    entered = [run for run in runs if last is None or run.event_row == last]
    # An event that is forgotten by now leaves the newest trace to answer.
    decided = [each for each in decisions if last is None or each.event_row == last]
    if decided and (not entered or decided[0].decided_at > entered[0].started_at):
        return decided[0].reason, decided[0].told, True
    if entered:
        return ENTERED, {"run": entered[0].public_id}, True
    barring = next((check for check in checks if check.verdict == BARS), None)
    if barring is None:
        return NOT_RECORDED, {}, False
    return barring.code, barring.params, False


def _runs(session: Session, row: Automation, contact_row: int) -> Sequence[RunRef]:
    run = AutomationRun
    found = session.execute(
        select(
            run.public_id,
            run.status,
            run.ended_reason,
            run.started_at,
            run.completed_at,
            run.event_id,
        )
        .where(
            run.workspace_id == row.workspace_id,
            run.contact_id == contact_row,
            run.automation_id == row.id,
        )
        .order_by(run.id.desc())
        .limit(_RUNS)
    )
    return [RunRef(*each) for each in found]


def _decisions(session: Session, row: Automation, contact_row: int) -> Sequence[DecisionRow]:
    made = TriggerDecision
    found = session.execute(
        select(made.reason, made.details, made.automation_version, made.decided_at, made.event_id)
        .where(
            made.workspace_id == row.workspace_id,
            made.contact_id == contact_row,
            made.automation_id == row.id,
        )
        .order_by(made.id.desc())
        .limit(_DECISIONS)
    )
    return [
        DecisionRow(reason or "", details or {}, version, decided_at, event_row)
        for reason, details, version, decided_at, event_row in found
    ]
