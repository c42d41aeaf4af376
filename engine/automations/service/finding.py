"""Finding an automation, and what every verb needs of it."""

from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.document import write_document
from engine.automations.models import RUNNING, Automation, AutomationRun, AutomationStep
from engine.core.audit import Subject

RESOURCE: Final = "automation"


def find(session: Session, workspace_id: int, public_id: str) -> Automation | None:
    """Return the automation, or None when unknown, foreign or deleted."""
    return session.scalar(
        select(Automation)
        .where(
            Automation.workspace_id == workspace_id,
            Automation.public_id == public_id,
            Automation.deleted_at.is_(None),
        )
        .execution_options(populate_existing=True)
    )


def people_inside(session: Session, workspace_id: int, automation_id: int) -> int:
    """Return how many people have a running run."""
    run = AutomationRun
    return (
        session.scalar(
            select(func.count())
            .select_from(run)
            .where(
                run.workspace_id == workspace_id,
                run.automation_id == automation_id,
                run.status == RUNNING,
            )
        )
        or 0
    )


def draft_document(session: Session, row: Automation) -> dict[str, Any]:
    """Return the draft as a document."""
    step = AutomationStep
    steps = session.execute(
        select(step.key, step.step_type, step.config, step.next)
        .where(step.workspace_id == row.workspace_id, step.automation_id == row.id)
        .order_by(step.step_index)
    )
    parts = [{"key": s[0], "type": s[1], "config": s[2], "next": s[3]} for s in steps]
    return write_document(row.name, row.description, row.draft_settings, parts)


def subject_of(row: Automation) -> Subject:
    """Return what audit lines about the automation are about."""
    return Subject(row.workspace_id, RESOURCE, row.public_id)
