"""What an open page of a run watches: a mark of how it stands now, in one short statement."""

from hashlib import blake2s

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.core.ids import is_public_id


def run_mark(session: Session, workspace_id: int, public_id: str) -> str | None:
    """Return a few characters that change with the run, its newest visit and its automation.

    None when the run is unknown or foreign.
    """
    if not is_public_id(public_id):
        return None
    run, step = AutomationRun, AutomationStepRun
    newest = (
        select(func.max(step.id))
        .where(step.workspace_id == workspace_id, step.automation_run_id == run.id)
        .correlate(run)
        .scalar_subquery()
    )
    found = session.execute(
        select(
            run.status,
            run.ended_reason,
            run.revision_id,
            run.steps_executed,
            run.attention_at,
            Automation.status,
            Automation.deleted_at,
            step.id,
            step.status,
            step.attempt,
            step.due_at,
            step.held_at,
            step.lease_until,
        )
        .join(Automation, Automation.id == run.automation_id)
        .outerjoin(step, step.id == newest)
        .where(run.workspace_id == workspace_id, run.public_id == public_id)
    ).first()
    if found is None:
        return None
    return blake2s(repr(tuple(found)).encode(), digest_size=8).hexdigest()
