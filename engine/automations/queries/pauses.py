"""Why an automation stands still: who paused it, and what failed last (decision A12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import String, Subquery, literal_column, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations.lifecycle import ACTIONS, BREAKER
from engine.automations.models import (
    FAILED,
    PAUSED,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.queries.automations import AutomationRow
from engine.automations.run_lifecycle import STEP_FAILED
from engine.automations.service.finding import RESOURCE
from engine.core.audit import AuditEntry

LAST_ERRORS: Final = 5


@dataclass(frozen=True)
class Failure:
    """One step that failed for good and ended its run; ids are public."""

    run_id: str
    contact_id: str
    contact_name: str
    revision_row_id: int
    step_key: str
    code: str
    message: str
    at: datetime


def paused_by(session: Session, workspace_id: int, row: AutomationRow) -> str | None:
    """Return the actor who paused it; None where it is not paused or nobody wrote it down.

    Reads the audit log back to the pause, by its instant.
    """
    if row.status != PAUSED or row.paused_at is None:
        return None
    entry = AuditEntry
    return session.scalar(
        select(entry.actor)
        .where(
            entry.workspace_id == workspace_id,
            entry.resource == RESOURCE,
            entry.resource_id == row.public_id,
            entry.action == ACTIONS[PAUSED],
            entry.created_at == row.paused_at,
            entry.details["no_op"].as_boolean().is_not(True),
        )
        .order_by(entry.id.desc())
        .limit(1)
    )


def is_breaker(actor: str | None) -> bool:
    """Return whether the breaker paused it: too many runs failed one after the other."""
    return actor == BREAKER.name


def last_failures(
    session: Session, workspace_id: int, automation_id: int, limit: int = LAST_ERRORS
) -> Sequence[Failure]:
    """Return what failed last, newest first, by the time their runs ended."""
    run, step = _failed(workspace_id, automation_id, limit), AutomationStepRun
    contact = Contact
    found = session.execute(
        select(
            run.c.public_id.label("run"),
            contact.public_id,
            contact.first_name,
            contact.last_name,
            contact.email,
            contact.external_id,
            run.c.revision_id,
            step.step_key,
            step.error_code,
            step.error_message,
            step.completed_at,
        )
        .select_from(run)
        .join(step, step.automation_run_id == run.c.id)
        .join(contact, contact.id == run.c.contact_id)
        .where(
            step.workspace_id == workspace_id,
            contact.workspace_id == workspace_id,
            step.status == FAILED,
        )
        .order_by(step.completed_at.desc(), step.id.desc())
        .limit(limit)
    )
    return [_failure(row) for row in found]


def _failed(workspace_id: int, automation_id: int, limit: int) -> Subquery:
    run = AutomationRun
    return (
        select(run.id, run.public_id, run.contact_id, run.revision_id)
        .where(
            run.workspace_id == workspace_id,
            run.automation_id == automation_id,
            # As a literal: the planner sees that the partial index holds them.
            run.ended_reason == literal_column(f"'{STEP_FAILED}'", String()),
        )
        .order_by(run.completed_at.desc(), run.id.desc())
        .limit(limit)
        .subquery("failed")
    )


def _failure(row: Any) -> Failure:
    name = " ".join(part for part in (row.first_name, row.last_name) if part)
    return Failure(
        run_id=row.run,
        contact_id=row.public_id,
        contact_name=name or row.email or row.external_id or row.public_id,
        revision_row_id=row.revision_id,
        step_key=row.step_key,
        code=row.error_code or "",
        message=row.error_message or "",
        at=row.completed_at,
    )
