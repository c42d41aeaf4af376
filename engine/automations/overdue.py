"""Who is overdue in a paused automation: the people whom a resume asks about (decision A11)."""

from datetime import datetime

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from engine.automations.models import EXECUTING, PENDING, RUNNING, AutomationRun, AutomationStepRun
from engine.automations.run_lifecycle import RUNS, STEP_RUNS


def count_overdue(
    session: Session,
    workspace_id: int,
    automation_id: int,
    at: datetime,
    most: int | None = None,
) -> int | None:
    """Return for how many people inside the time of a step has come at `at`, parked ones included.

    most: look at no more people inside than this, and return None where there are more.
    """
    run, step = AutomationRun, AutomationStepRun
    time_has_come = or_(and_(STEP_RUNS.is_(PENDING), step.due_at <= at), step.held_at.is_not(None))
    here = (
        select(time_has_come.label("overdue"))
        .join(run, run.id == step.automation_run_id)
        .where(
            run.workspace_id == workspace_id,
            step.workspace_id == workspace_id,
            run.automation_id == automation_id,
            RUNS.is_(RUNNING),
            or_(STEP_RUNS.is_(PENDING), STEP_RUNS.is_(EXECUTING)),
        )
        .limit(None if most is None else most + 1)
        .subquery()
    )
    found = select(func.count(), func.count().filter(here.c.overdue)).select_from(here)
    looked_at, overdue = session.execute(found).one()
    return None if most is not None and looked_at > most else overdue
