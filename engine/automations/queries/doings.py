"""What was done to an automation while somebody was inside: pauses, resumes, a Stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.lifecycle import ACTIONS, RESUMED
from engine.automations.models import ACTIVE, PAUSED, RunJob, RunJobItem
from engine.automations.models.jobs import DONE
from engine.automations.service.acting import AUDITED
from engine.automations.service.acting import RESOURCE as RUN
from engine.automations.service.finding import RESOURCE
from engine.automations.service.moves import STOPPED
from engine.core.audit import AuditEntry
from engine.core.db import JsonObject

# A longer history of pauses would bury the log that it stands in.
MOST_DOINGS: Final = 50
_ACTIONS: Final = (ACTIONS[PAUSED], ACTIONS[ACTIVE], RESUMED, STOPPED)


@dataclass(frozen=True)
class Doing:
    """One thing that was done. what: `paused`, `resumed` or `stopped`; actor: as it is stored.

    details: of its audit line, with what the edge says of the people inside (decision A11).
    """

    what: str
    at: datetime
    actor: str
    details: JsonObject


def doings(
    session: Session,
    workspace_id: int,
    automation_id: str,
    since: datetime,
    until: datetime | None,
) -> Sequence[Doing]:
    """Return what the audit log has of an automation in a span, oldest first, the newest so many.

    automation_id: public. A press that changed nothing is left out, as is a first activation.
    """
    row = AuditEntry
    query = select(row).where(
        row.workspace_id == workspace_id,
        row.resource == RESOURCE,
        row.resource_id == automation_id,
        row.action.in_(_ACTIONS),
        row.created_at >= since,
    )
    if until is not None:
        query = query.where(row.created_at <= until)
    found = session.scalars(query.order_by(row.id.desc()).limit(MOST_DOINGS)).all()
    told = [(line, _what(line)) for line in reversed(found) if not line.details.get("no_op")]
    return [Doing(what, line.created_at, line.actor, line.details) for line, what in told if what]


def acts(session: Session, workspace_id: int, run_id: int, public_id: str) -> Sequence[Doing]:
    """Return what people did to a run, one by one or with many others, the newest so many.

    what: an action of `act_judging`; details: from, to, reason, as far as they are known.
    """
    row, item, job = AuditEntry, RunJobItem, RunJob
    lines = session.scalars(
        select(row)
        .where(
            row.workspace_id == workspace_id,
            row.resource == RUN,
            row.resource_id == public_id,
        )
        .order_by(row.id.desc())
        .limit(MOST_DOINGS)
    ).all()
    words = {action: act for act, action in AUDITED.items()}
    found = [
        Doing(words[line.action], line.created_at, line.actor, line.details)
        for line in lines
        if line.action in words
    ]
    jobs = session.execute(
        select(job.action, item.at, job.created_by, job.reason, job.step_key)
        .join(item, item.job_id == job.id)
        .where(
            job.workspace_id == workspace_id,
            item.workspace_id == workspace_id,
            item.run_id == run_id,
            item.outcome == DONE,
        )
        .order_by(item.at.desc())
        .limit(MOST_DOINGS)
    )
    found += [
        Doing(action, at, actor, {"reason": reason, "to": step} if step else {"reason": reason})
        for action, at, actor, reason, step in jobs
    ]
    return found


def _what(line: AuditEntry) -> str:
    if line.action == STOPPED:
        return "stopped"
    if line.action == ACTIONS[PAUSED]:
        return "paused"
    # Starting afresh is a resume too, where it was paused (decision A9).
    return "resumed" if line.details.get("previous_status") == PAUSED else ""
