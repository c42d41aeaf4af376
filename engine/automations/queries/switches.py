"""Who switched an automation last, and how: what a page tells whoever was not faster."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.lifecycle import ACTIONS, PUBLISHED, RESUMED
from engine.automations.service.finding import RESOURCE
from engine.automations.service.moves import STOPPED
from engine.core.audit import AuditEntry

_SWITCHES: Final = (*ACTIONS.values(), RESUMED, PUBLISHED, STOPPED)


@dataclass(frozen=True)
class Switch:
    """One line of the audit log. action: as it is stored; actor: who did it."""

    action: str
    actor: str
    at: datetime


def last_switch(session: Session, workspace_id: int, public_id: str) -> Switch | None:
    """Return what changed the status or the revision in force last; None where nothing did."""
    entry = AuditEntry
    found = session.execute(
        select(entry.action, entry.actor, entry.created_at)
        .where(
            entry.workspace_id == workspace_id,
            entry.resource == RESOURCE,
            entry.resource_id == public_id,
            entry.action.in_(_SWITCHES),
            entry.details["no_op"].as_boolean().is_not(True),
        )
        .order_by(entry.id.desc())
        .limit(1)
    ).first()
    return None if found is None else Switch(*found)
