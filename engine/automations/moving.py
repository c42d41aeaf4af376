"""Moving people inside to a new revision, at the same step key (decision A8).

Only who waits is moved: a visit that is being executed belongs to the graph it was claimed with, so
its run stays on the old revision, as does a run whose step is gone in the new one.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import case, update
from sqlalchemy.orm import Session

from engine.automations import holding
from engine.automations.graph import Graph, GraphStep
from engine.automations.hints import SWEEP_PERIOD, hint_steps
from engine.automations.models import PENDING, RUNNING, Automation, AutomationRun, AutomationStepRun
from engine.automations.run_lifecycle import MOST_HINTS, RUNS, STEP_RUNS
from engine.core.db import among
from engine.core.db.instants import later

_MICROSECOND: Final = timedelta(microseconds=1)


def move_people(
    session: Session, row: Automation, revision_id: int, graph: Graph, at: datetime
) -> int:
    """Pin waiting runs of other revisions to `revision_id`; return how many were moved.

    A moved wait is due at its own start + the new delay. Two statements a step of the graph,
    however many people wait there.
    """
    moved = 0
    due: list[tuple[int, datetime]] = []
    for step in graph.steps:
        visits = _move_visits(session, row, revision_id, step, at)
        _move_runs(session, row, revision_id, step, [visit.automation_run_id for visit in visits])
        moved += len(visits)
        due += [(v.id, v.due_at) for v in visits if v.due_at <= at + SWEEP_PERIOD]
    if moved:
        holding.set_places(session, row.workspace_id, row.id, at)
        hint_steps(session, due[:MOST_HINTS], at)
    return moved


def _move_visits(
    session: Session, row: Automation, revision_id: int, step: GraphStep, at: datetime
) -> Sequence[Any]:
    visit = AutomationStepRun
    wait = step.kind.entry_delay(step.config)
    due = later(session, visit.scheduled_at, wait // _MICROSECOND) if wait else visit.scheduled_at
    others = holding.inside(row.workspace_id, row.id).where(
        AutomationRun.revision_id != revision_id
    )
    moved = session.execute(
        update(visit)
        .where(
            visit.workspace_id == row.workspace_id,
            visit.automation_run_id.in_(others),
            visit.step_key == step.key,
            STEP_RUNS.is_(PENDING),
        )
        .values(
            step_index=step.index,
            step_type=step.type,
            due_at=due,
            delay_until=due if wait else None,
            # Who waits again is not parked; the claim parks anew when the time has come.
            held_at=case((due > at, None), else_=visit.held_at),
        )
        .returning(visit.id, visit.automation_run_id, visit.due_at)
        .execution_options(synchronize_session=False)
    )
    return moved.all()


def _move_runs(
    session: Session, row: Automation, revision_id: int, step: GraphStep, run_ids: Sequence[int]
) -> None:
    if not run_ids:
        return
    run = AutomationRun
    session.execute(
        update(run)
        .where(
            run.workspace_id == row.workspace_id, among(session, run.id, run_ids), RUNS.is_(RUNNING)
        )
        .values(revision_id=revision_id, current_step_index=step.index)
        .execution_options(synchronize_session=False)
    )
