"""Finding an automation, and what every verb needs of it."""

from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.document import write_document
from engine.automations.models import (
    RUNNING,
    Automation,
    AutomationRun,
    AutomationStatShard,
    AutomationStep,
)
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


def lock(session: Session, row: Automation, *, shut: bool = False) -> Automation | None:
    """Read an automation anew and keep others from changing it until the transaction ends.

    The first lock that a change takes (architecture 4). None where it was deleted meanwhile.
    shut: keep people from entering too; waits for those who are just entering.
    """
    return session.scalar(
        select(Automation)
        .where(
            Automation.workspace_id == row.workspace_id,
            Automation.id == row.id,
            Automation.deleted_at.is_(None),
        )
        .with_for_update(key_share=not shut)
        .execution_options(populate_existing=True)
    )


def people_inside(session: Session, workspace_id: int, automation_id: int) -> int:
    """Return how many people have a running run, by the counters; 0 only if really nobody has.

    What the same transaction has started or ended is counted at its commit, so whether anybody is
    inside at all is asked of the rows: one look into the index.
    """
    run, shard = AutomationRun, AutomationStatShard
    anybody = session.scalar(
        select(run.id)
        .where(
            run.workspace_id == workspace_id,
            run.automation_id == automation_id,
            run.status == RUNNING,
        )
        .limit(1)
    )
    if anybody is None:
        return 0
    counted = session.scalar(
        select(func.sum(shard.entered - shard.completed - shard.cancelled)).where(
            shard.workspace_id == workspace_id, shard.automation_id == automation_id
        )
    )
    return max(1, int(counted or 0))


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
