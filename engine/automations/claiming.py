"""What the claim looks at before a step may run: its run, automation, person and place.

Guards of facts 1.7: whoever may not run is settled here, in the claim's own transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations import run_lifecycle
from engine.automations.graph import Graph, GraphStep
from engine.automations.kinds.steps.base import Failed, Visit
from engine.automations.models import (
    ACTIVE,
    CANCELLED,
    FAILED,
    RUNNING,
    Automation,
    AutomationRun,
)
from engine.automations.revisions import graphs
from engine.automations.run_lifecycle import MAX_EXECUTIONS, MAX_STEPS_PER_RUN
from engine.core.db import JsonObject

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
    """One claimed visit with all that settling needs."""

    id: int
    attempt: int
    lease_until: datetime
    run_id: int
    workspace_id: int
    step: GraphStep
    graph: Graph
    visit: Visit[Any]
    failures: tuple[JsonObject, ...]


@dataclass(frozen=True)
class Context:
    """What stands around a step run at the moment of its claim."""

    run_status: str
    contact_id: int
    contact_deleted: bool
    automation_status: str
    automation_deleted: bool
    revision_id: int
    trigger_data: Mapping[str, Any]


def load_context(session: Session, rows: Sequence[Any]) -> Mapping[int, Context]:
    """Return the context of claimed step runs, by run id; one statement."""
    run, automation, contact = AutomationRun, Automation, Contact
    statement = (
        select(
            run.id,
            run.status,
            run.contact_id,
            contact.deleted_at,
            automation.status,
            automation.deleted_at,
            run.revision_id,
            run.trigger_data,
        )
        .join(automation, automation.id == run.automation_id)
        .join(contact, contact.id == run.contact_id)
        .where(run.id.in_({row.automation_run_id for row in rows}))
    )
    return {
        found[0]: Context(
            run_status=found[1],
            contact_id=found[2],
            contact_deleted=found[3] is not None,
            automation_status=found[4],
            automation_deleted=found[5] is not None,
            revision_id=found[6],
            trigger_data=found[7] or {},
        )
        for found in session.execute(statement)
    }


def guard(
    session: Session,
    rows: Sequence[Any],
    contexts: Mapping[int, Context],
    counts: Mapping[int, int],
    at: datetime,
) -> Sequence[StepItem]:
    """Return the items that may run; fail the others and end their runs (facts 1.7).

    counts: steps_executed after this claim, for first executions only.
    """
    known = graphs(session, {context.revision_id for context in contexts.values()})
    items: list[StepItem] = []
    refused: list[tuple[Any, Failed]] = []
    endings: dict[int, str] = {}
    for row in rows:
        context = contexts.get(row.automation_run_id)
        graph = known.get(context.revision_id) if context else None
        verdict = _verdict(row, context, graph, counts)
        if verdict is not None:
            failure, ending = verdict
            refused.append((row, failure))
            if ending is not None:
                endings[row.automation_run_id] = ending
        elif context is not None and graph is not None:
            items.append(_item(row, context, graph))
    _fail(session, refused, at)
    run_lifecycle.end_runs(session, CANCELLED, endings, at)
    return items


def _verdict(
    row: Any, context: Context | None, graph: Graph | None, counts: Mapping[int, int]
) -> tuple[Failed, str | None] | None:
    """Return why a claimed step may not run, and how its run ends then; None when it may."""
    if context is None:
        return NOT_FOUND, None
    if context.run_status != RUNNING:
        return RUN_ENDED, None
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
            counts.get(row.automation_run_id, 0) > MAX_STEPS_PER_RUN,
            TOO_MANY,
            run_lifecycle.LOOP_CAP,
        ),
        (row.attempt > MAX_EXECUTIONS, LOST, run_lifecycle.STEP_FAILED),
    )
    return next(((failure, ending) for hit, failure, ending in checks if hit), None)


def _item(row: Any, context: Context, graph: Graph) -> StepItem:
    step = graph.steps[row.step_index]
    visit = Visit(
        id=row.id,
        workspace_id=row.workspace_id,
        contact_id=context.contact_id,
        key=f"step:{row.id}",
        config=step.config,
        scheduled_at=row.scheduled_at,
        trigger=context.trigger_data,
    )
    return StepItem(
        id=row.id,
        attempt=row.attempt,
        lease_until=row.lease_until,
        run_id=row.automation_run_id,
        workspace_id=row.workspace_id,
        step=step,
        graph=graph,
        visit=visit,
        failures=tuple(row.failures or ()),
    )


def _fail(session: Session, refused: Sequence[tuple[Any, Failed]], at: datetime) -> None:
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
