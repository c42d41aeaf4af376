"""What the claim looks at before a step may run: its run, automation, person and place.

Guards of facts 1.7: whoever may not run is settled here, in the claim's own transaction; who must
wait because the automation is on hold is parked (decision A11).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations import counters, lifecycle, run_lifecycle
from engine.automations.graph import Graph, GraphStep
from engine.automations.kinds.steps.base import Failed, Visit
from engine.automations.models import (
    ACTIVE,
    CANCELLED,
    EXECUTING,
    FAILED,
    HOLD,
    PAUSED,
    PENDING,
    RUNNING,
    Automation,
    AutomationRun,
)
from engine.automations.revisions import graphs
from engine.automations.run_lifecycle import MAX_EXECUTIONS, MAX_STEPS_PER_RUN
from engine.core.db import JsonObject, among

NOT_FOUND: Final = Failed("NOT_FOUND", "Automation run or contact not found")
RUN_ENDED: Final = Failed(run_lifecycle.RUN_ENDED, "Automation run has ended")
NO_LONGER_ACTIVE: Final = Failed("NOT_ACTIVE", "Automation is no longer active")
NO_STEP: Final = Failed("STEP_NOT_FOUND", "Step not found")
TOO_MANY: Final = Failed(
    "LOOP_CAP",
    f"Automation exceeded {MAX_STEPS_PER_RUN} step executions — cancelled to prevent a loop",
)
LOST: Final = Failed("LEASE_LOST", "The worker was lost while executing the step")


@dataclass(frozen=True)
class StepItem:
    """One claimed visit with all that settling needs. skip: who skips it and why; never run."""

    id: int
    attempt: int
    lease_until: datetime
    run_id: int
    workspace_id: int
    automation_id: int
    step: GraphStep
    graph: Graph
    visit: Visit[Any]
    failures: tuple[JsonObject, ...]
    skip: JsonObject | None = None


@dataclass(frozen=True)
class Context:
    """What stands around a step run at the moment of its claim."""

    run: Any
    contact_deleted: bool
    automation_status: str
    on_pause: str
    automation_deleted: bool
    graph: Graph | None

    @property
    def held(self) -> bool:
        """Return whether due steps have to wait for the resume."""
        return (
            self.automation_status == PAUSED
            and self.on_pause == HOLD
            and not self.automation_deleted
            and not self.contact_deleted
            and self.run.status == RUNNING
        )


@dataclass
class _Sorted:
    """Claimed rows by what becomes of them."""

    items: list[StepItem] = field(default_factory=list)
    parked: list[Any] = field(default_factory=list)
    refused: list[tuple[Any, Failed]] = field(default_factory=list)
    endings: dict[int, str] = field(default_factory=dict)


_RUN: Final = (
    AutomationRun.id,
    AutomationRun.status,
    AutomationRun.workspace_id,
    AutomationRun.automation_id,
    AutomationRun.revision_id,
    AutomationRun.contact_id,
    AutomationRun.trigger_data,
    AutomationRun.steps_executed,
)


def guard(
    session: Session, rows: Sequence[Any], first: Collection[int], at: datetime
) -> Sequence[StepItem]:
    """Return the items that may run; park the held, fail the others and end their runs (facts 1.7).

    first: the step runs that were claimed for their first execution.
    """
    contexts = load_context(session, rows, first)
    parted = _Sorted()
    for row in rows:
        _sort(parted, row, contexts[row.automation_run_id])
    moved = [row for row in rows if row.id in first and row not in parted.parked]
    counters.count_steps(session, _keys(moved, contexts), EXECUTING, PENDING)
    _park(session, parted.parked, first, at)
    _fail(session, parted.refused, contexts, at)
    # A worker lost four times over is a failed run like any other (facts 1.10). Lapsed rows are
    # claimed alone, so no run is locked yet when the automation is.
    lost = [row for row, failure in parted.refused if failure is LOST]
    owners = Counter(contexts[row.automation_run_id].run.automation_id for row in lost)
    lifecycle.record_failures(session, owners, at)
    run_lifecycle.end_runs(session, CANCELLED, parted.endings, at)
    return parted.items


def load_context(
    session: Session, rows: Sequence[Any], first: Collection[int]
) -> Mapping[int, Context]:
    """Return the context of claimed step runs by run id, with the first claims counted.

    A bounded number of statements: the runs (those claimed first are counted by the same one), the
    few automations, whichever of the people were deleted.
    """
    counted = [row.automation_run_id for row in rows if row.id in first]
    others = [row.automation_run_id for row in rows if row.id not in first]
    runs = [*_count(session, counted, 1), *_read(session, others)]
    automation, contact = Automation, Contact
    owners = {
        owner.id: owner
        for owner in session.execute(
            select(
                automation.id, automation.status, automation.on_pause, automation.deleted_at
            ).where(among(session, automation.id, {run.automation_id for run in runs}))
        )
    }
    gone = set(
        session.scalars(
            select(contact.id).where(
                among(session, contact.id, {run.contact_id for run in runs}),
                contact.deleted_at.is_not(None),
            )
        )
    )
    known = graphs(session, {run.revision_id for run in runs})
    return {
        run.id: Context(
            run=run,
            contact_deleted=run.contact_id in gone,
            automation_status=owners[run.automation_id].status,
            on_pause=owners[run.automation_id].on_pause,
            automation_deleted=owners[run.automation_id].deleted_at is not None,
            graph=known.get(run.revision_id),
        )
        for run in runs
    }


def _count(session: Session, run_ids: Sequence[int], by: int) -> Sequence[Any]:
    """Raise steps_executed of runs by one first claim (or take it back); return the runs."""
    if not run_ids:
        return []
    statement = (
        update(AutomationRun)
        .where(among(session, AutomationRun.id, run_ids))
        .values(steps_executed=AutomationRun.steps_executed + by)
        .returning(*_RUN)
        .execution_options(synchronize_session=False)
    )
    return session.execute(statement).all()


def _read(session: Session, run_ids: Sequence[int]) -> Sequence[Any]:
    if not run_ids:
        return []
    return session.execute(select(*_RUN).where(among(session, AutomationRun.id, run_ids))).all()


def _sort(parted: _Sorted, row: Any, context: Context) -> None:
    if context.held:
        parted.parked.append(row)
        return
    verdict = _verdict(row, context)
    if verdict is None:
        parted.items.append(_item(row, context))
        return
    failure, ending = verdict
    parted.refused.append((row, failure))
    if ending is not None:
        parted.endings[row.automation_run_id] = ending


def _verdict(row: Any, context: Context) -> tuple[Failed, str | None] | None:
    """Return why a claimed step may not run, and how its run ends then; None when it may."""
    if context.run.status != RUNNING:
        return RUN_ENDED, None
    graph = context.graph
    checks = (
        (context.contact_deleted, NOT_FOUND, run_lifecycle.REMOVED),
        (context.automation_deleted, NOT_FOUND, run_lifecycle.AUTOMATION_DELETED),
        (context.automation_status != ACTIVE, NO_LONGER_ACTIVE, run_lifecycle.NOT_ACTIVE),
        (
            graph is None or graph.at(row.step_index) is None,
            NO_STEP,
            run_lifecycle.STEP_NOT_FOUND,
        ),
        (
            context.run.steps_executed > MAX_STEPS_PER_RUN,
            TOO_MANY,
            run_lifecycle.LOOP_CAP,
        ),
        (row.attempt > MAX_EXECUTIONS, LOST, run_lifecycle.STEP_FAILED),
    )
    return next(((failure, ending) for hit, failure, ending in checks if hit), None)


def _item(row: Any, context: Context) -> StepItem:
    graph, run = context.graph, context.run
    if graph is None:
        raise LookupError(run.revision_id)
    step = graph.steps[row.step_index]
    visit = Visit(
        id=row.id,
        workspace_id=row.workspace_id,
        contact_id=run.contact_id,
        key=f"step:{row.id}",
        config=step.config,
        scheduled_at=row.scheduled_at,
        trigger=run.trigger_data or {},
    )
    marked = row.result if row.result and "skip" in row.result else None
    return StepItem(
        id=row.id,
        attempt=row.attempt,
        lease_until=row.lease_until,
        run_id=row.automation_run_id,
        workspace_id=row.workspace_id,
        automation_id=run.automation_id,
        step=step,
        graph=graph,
        visit=visit,
        failures=tuple(row.failures or ()),
        skip=marked,
    )


def _keys(rows: Sequence[Any], contexts: Mapping[int, Context]) -> Sequence[tuple[int, int, str]]:
    return [
        (row.workspace_id, contexts[row.automation_run_id].run.automation_id, row.step_key)
        for row in rows
    ]


def _park(session: Session, parked: Sequence[Any], first: Collection[int], at: datetime) -> None:
    """Take back the claims of held rows: they were never due, so nothing counts."""
    fresh = [row for row in parked if row.id in first]
    again = [row.id for row in parked if row.id not in first]
    run_lifecycle.park(session, [row.id for row in fresh], again, at)
    _count(session, [row.automation_run_id for row in fresh], -1)


def _fail(
    session: Session,
    refused: Sequence[tuple[Any, Failed]],
    contexts: Mapping[int, Context],
    at: datetime,
) -> None:
    rows = [
        {
            "id": row.id,
            "attempt": row.attempt,
            "failures": row.failures,
            "error_code": failure.code,
            "error_message": failure.message,
        }
        for row, failure in refused
    ]
    run_lifecycle.settle_steps(session, FAILED, rows, at)
    keys = _keys([row for row, _ in refused], contexts)
    counters.count_steps(session, keys, FAILED, EXECUTING)
