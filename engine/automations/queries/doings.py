"""What was done to an automation while somebody was inside: pauses, resumes, a Stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.lifecycle import ACTIONS, RESUMED
from engine.automations.models import ACTIVE, PAUSED
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


def _what(line: AuditEntry) -> str:
    if line.action == STOPPED:
        return "stopped"
    if line.action == ACTIONS[PAUSED]:
        return "paused"
    # Starting afresh is a resume too, where it was paused (decision A9).
    return "resumed" if line.details.get("previous_status") == PAUSED else ""
