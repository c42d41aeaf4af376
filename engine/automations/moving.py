"""Moving people inside to a new revision, at the same step key (decision A8).

Only who waits is moved: a visit that is being executed belongs to the graph it was claimed with, so
its run stays on the old revision, as does a run whose step is gone in the new one.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import case, insert, literal, select, update
from sqlalchemy.orm import Session

from engine.automations import holding
from engine.automations.graph import Graph, GraphStep
from engine.automations.hints import SWEEP_PERIOD, hint_steps
from engine.automations.models import (
    PENDING,
    RUNNING,
    Automation,
    AutomationRun,
    AutomationStepRun,
    RunMove,
)
from engine.automations.revisions import graphs_of
from engine.automations.run_lifecycle import MOST_HINTS, RUNS, STEP_RUNS
from engine.core.db import Id, Instant, among
from engine.core.db.instants import later

_MICROSECOND: Final = timedelta(microseconds=1)


def move_people(
    session: Session, row: Automation, revision_id: int, graph: Graph, at: datetime
) -> int:
    """Pin waiting runs of other revisions to `revision_id`; return how many were moved.

    A moved wait is due at its own start + the new delay; where the delay is what it was, the visit
    stays due when it is, for a shift or an overdue start may have set that. A handful of statements
    a step of the graph, however many people wait there.
    """
    moved = 0
    due: list[tuple[int, datetime]] = []
    older = _older(session, row, revision_id)
    for step in graph.steps:
        visits = _move_visits(session, row, step, older, at)
        _keep_moves(session, row, revision_id, [visit.id for visit in visits], at)
        _move_runs(session, row, revision_id, step, [visit.automation_run_id for visit in visits])
        moved += len(visits)
        due += [(v.id, v.due_at) for v in visits if v.due_at <= at + SWEEP_PERIOD]
    if moved:
        holding.set_places(session, row.workspace_id, row.id, at)
        hint_steps(session, due[:MOST_HINTS], at)
    return moved


def _older(session: Session, row: Automation, revision_id: int) -> Mapping[int, Graph | None]:
    """Return the other revisions in which people are inside; None: it does not read."""
    inside = holding.inside(row.workspace_id, row.id)
    statement = inside.with_only_columns(AutomationRun.revision_id).distinct()
    ids = [found for found in session.scalars(statement) if found != revision_id]
    known = graphs_of(session, ids) if ids else {}
    return {found: known.get(found) for found in ids}


def _move_visits(
    session: Session,
    row: Automation,
    step: GraphStep,
    older: Mapping[int, Graph | None],
    at: datetime,
) -> Sequence[Any]:
    same = [found for found, graph in older.items() if _same_wait(graph, step)]
    parts = {True: same, False: [found for found in older if found not in same]}
    moved: list[Any] = []
    for kept, ids in parts.items():
        if ids:
            values = {} if kept else _waits_anew(session, step, at)
            moved += _moved(session, row, step, ids, values)
    return moved


def _same_wait(graph: Graph | None, step: GraphStep) -> bool:
    """Return whether the step of this key waited as long in `graph` as `step` does."""
    was = next((each for each in graph.steps if each.key == step.key), None) if graph else None
    try:
        return was is not None and _wait(was) == _wait(step)
    except (ValueError, OverflowError):
        # A hand in the database: nobody can have come to wait there.
        return False


def _wait(step: GraphStep) -> timedelta:
    return step.kind.entry_delay(step.config)


def _waits_anew(session: Session, step: GraphStep, at: datetime) -> Mapping[str, Any]:
    visit, wait = AutomationStepRun, _wait(step)
    anew = later(session, visit.scheduled_at, wait // _MICROSECOND) if wait else visit.scheduled_at
    # Who has heard the event of the wait goes on, whatever its new limit.
    due = case((visit.heard.is_not(None), visit.due_at), else_=anew)
    return {
        "due_at": due,
        "delay_until": due if wait else None,
        # Who waits again is not parked; the claim parks anew when the time has come. Nor is
        # such a wait overdue any more, whatever a resume marked.
        "held_at": case((due > at, None), else_=visit.held_at),
        "result": case((due > at, holding.without_skip()), else_=visit.result),
    }


def _moved(
    session: Session,
    row: Automation,
    step: GraphStep,
    revision_ids: Sequence[int],
    values: Mapping[str, Any],
) -> Sequence[Any]:
    visit = AutomationStepRun
    others = holding.inside(row.workspace_id, row.id).where(
        AutomationRun.revision_id.in_(revision_ids)
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
            awaits=step.kind.awaits(step.config),
            **values,
        )
        .returning(visit.id, visit.automation_run_id, visit.due_at)
        .execution_options(synchronize_session=False)
    )
    return moved.all()


def _keep_moves(
    session: Session, row: Automation, revision_id: int, visit_ids: Sequence[int], at: datetime
) -> None:
    """Note from which visit on each run goes by the new revision; the runs still name theirs."""
    if not visit_ids:
        return
    visit, run, kept = AutomationStepRun, AutomationRun, RunMove
    session.execute(
        insert(kept).from_select(
            [
                kept.workspace_id,
                kept.automation_run_id,
                kept.step_run_id,
                kept.from_revision_id,
                kept.to_revision_id,
                kept.moved_at,
            ],
            select(
                visit.workspace_id,
                visit.automation_run_id,
                visit.id,
                # Looked up visit by visit: SQLite would go through all runs for a join.
                select(run.revision_id)
                .where(
                    run.workspace_id == visit.workspace_id,
                    run.id == visit.automation_run_id,
                )
                .scalar_subquery(),
                literal(revision_id, Id),
                literal(at, Instant),
            ).where(
                visit.workspace_id == row.workspace_id,
                among(session, visit.id, visit_ids),
            ),
        )
    )


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
