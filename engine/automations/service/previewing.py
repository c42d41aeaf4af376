"""What a publish would do, before anybody does it: the difference, and the people it meets (A8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from engine.automations import holding
from engine.automations.comparing import Comparison, compare
from engine.automations.document import read_document
from engine.automations.graph import Graph, GraphStep
from engine.automations.models import (
    DRAFT,
    PENDING,
    Automation,
    AutomationRun,
    AutomationStatShard,
    AutomationStepRun,
    AutomationStepStat,
)
from engine.automations.revisions import graphs_of
from engine.automations.run_lifecycle import STEP_RUNS
from engine.automations.service.finding import draft_document, find
from engine.automations.service.freezing import content_in_force
from engine.core.db import JsonObject
from engine.core.outcome import Refused, missing

# Above so many people inside, nobody counts who becomes due.
MOST_INSIDE: Final = 10_000


@dataclass(frozen=True)
class StepImpact:
    """The people at one step. standing: how many; gone: whether the draft has no such step.

    due_at_once: how many of them a move would make due within minutes, as their wait became
    shorter; None where more than MOST_INSIDE people are inside, so that nobody counted.
    """

    key: str
    standing: int
    gone: bool
    due_at_once: int | None


@dataclass(frozen=True)
class PublishPreview:
    """What a publish of the draft would do. impacts: of each step where people are, in order.

    inside: people with a running run; would_move, would_stay: how they part if the publish moves
    them; finished: people who got to an end, and to whom nothing is added; version: the draft's
    ETag that all this is about; revision: number of the one in force, None where none is.
    """

    comparison: Comparison
    impacts: tuple[StepImpact, ...]
    inside: int
    would_move: int
    would_stay: int
    finished: int
    version: int
    revision: int | None


@dataclass(frozen=True)
class _Standing:
    pending: int
    executing: int


def preview_publish(
    session: Session, workspace_id: int, public_id: str, at: datetime
) -> PublishPreview | Refused:
    """Return what publishing the draft at `at` would do; reads only, a bounded number of times.

    Refused while a draft (`illegal_edge`) and where the draft is unsound. What a check finds wrong
    is not asked here.
    """
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    if row.status == DRAFT:
        return Refused("illegal_edge")
    draft = draft_document(session, row)
    document = read_document(draft)
    if isinstance(document, Refused):
        return document
    frozen = content_in_force(session, row)
    live = draft if frozen is None else frozen[1]
    inside, finished = _people(session, row)
    standing = _standing(session, row)
    graph = document.graph
    due = _due_at_once(session, row, graph, at) if inside <= MOST_INSIDE else None
    would_move = 0 if live == draft else _movable(graph, standing)
    return PublishPreview(
        compare(live, draft),
        tuple(_impacts(graph, live, standing, due)),
        inside,
        would_move,
        max(0, inside - would_move),
        finished,
        row.draft_version,
        None if frozen is None else frozen[0],
    )


def _people(session: Session, row: Automation) -> tuple[int, int]:
    """Return how many people are inside and how many have got to an end, by the counters."""
    shard = AutomationStatShard
    entered, finished, cancelled = session.execute(
        select(func.sum(shard.entered), func.sum(shard.completed), func.sum(shard.cancelled)).where(
            shard.workspace_id == row.workspace_id, shard.automation_id == row.id
        )
    ).one()
    done = int(finished or 0)
    return max(0, int(entered or 0) - done - int(cancelled or 0)), done


def _standing(session: Session, row: Automation) -> Mapping[str, _Standing]:
    """Return who is at each step, of any revision, by the counters."""
    stat = AutomationStepStat
    found = session.execute(
        select(stat.step_key, func.sum(stat.pending), func.sum(stat.executing))
        .where(stat.workspace_id == row.workspace_id, stat.automation_id == row.id)
        .group_by(stat.step_key)
    )
    parts = {key: _Standing(max(0, int(p)), max(0, int(e))) for key, p, e in found}
    return {key: each for key, each in parts.items() if each.pending or each.executing}


def _movable(graph: Graph, standing: Mapping[str, _Standing]) -> int:
    """Return how many people a move would take along: who waits at a step that is still there."""
    return sum(standing[step.key].pending for step in graph.steps if step.key in standing)


def _impacts(
    graph: Graph,
    live: JsonObject,
    standing: Mapping[str, _Standing],
    due: Mapping[str, int] | None,
) -> Sequence[StepImpact]:
    """Return an impact a step with people: those of the draft in order, then those it lost."""
    kept = [step.key for step in graph.steps]
    gone = [step["key"] for step in live["steps"] if step["key"] not in kept]
    older = sorted(standing.keys() - {*kept, *gone})
    return [
        StepImpact(
            key,
            standing[key].pending + standing[key].executing,
            key not in kept,
            None if due is None else due.get(key, 0),
        )
        for key in (*kept, *gone, *older)
        if key in standing
    ]


def _due_at_once(
    session: Session, row: Automation, graph: Graph, at: datetime
) -> Mapping[str, int]:
    """Return by step how many people a move would make due who are not due yet.

    As engine.automations.moving: a wait that differs from that of the person's own revision is
    due at its own start + the new delay.
    """
    run, visit = AutomationRun, AutomationStepRun
    inside = holding.inside(row.workspace_id, row.id)
    revisions = session.scalars(inside.with_only_columns(run.revision_id).distinct()).all()
    graphs = graphs_of(session, revisions) if revisions else {}
    shorter = [
        cond
        for step in graph.steps
        if (cond := _comes_due(step, revisions, graphs, at)) is not None
    ]
    if not shorter:
        return {}
    found = session.execute(
        select(visit.step_key, func.count())
        .join(run, run.id == visit.automation_run_id)
        .where(
            visit.workspace_id == row.workspace_id,
            visit.automation_run_id.in_(inside),
            STEP_RUNS.is_(PENDING),
            visit.due_at > at,
            or_(*shorter),
        )
        .group_by(visit.step_key)
    )
    return dict(found.all())


def _comes_due(
    step: GraphStep, revisions: Sequence[int], graphs: Mapping[int, Graph], at: datetime
) -> ColumnElement[bool] | None:
    """Return which visits to `step` a move makes due by `at`; None: its wait is as it was."""
    wait = _wait(step)
    others = [found for found in revisions if _wait_in(graphs.get(found), step.key) != wait]
    if wait is None or not others:
        return None
    visit: Any = AutomationStepRun
    return and_(
        visit.step_key == step.key,
        AutomationRun.revision_id.in_(others),
        visit.scheduled_at <= at - wait,
    )


def _wait_in(graph: Graph | None, key: str) -> timedelta | None:
    step = next((each for each in graph.steps if each.key == key), None) if graph else None
    return None if step is None else _wait(step)


def _wait(step: GraphStep) -> timedelta | None:
    try:
        return step.kind.entry_delay(step.config)
    except (ValueError, OverflowError):
        # A draft may have a wait without length; nothing is published before it has one.
        return None
