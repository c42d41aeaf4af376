"""The only writer of the statuses of runs and step runs, by the machine's plural door.

Counters and the run log take the place of audit rows here (architecture 4).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, String, select, update
from sqlalchemy.orm import Session

from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    EXECUTING,
    FAILED,
    PENDING,
    RUNNING,
    AutomationRun,
    AutomationStepRun,
)
from engine.core.db import Columns, Id, Instant, batch_table, json_type
from engine.core.machine import Change, Machine, transition_many
from engine.core.outcome import Refused
from engine.core.walking import Claim

LEASE: Final = timedelta(seconds=120)
# Before the second, third and fourth execution (facts 1.8).
RETRY_DELAYS: Final = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30))
MAX_EXECUTIONS: Final = 1 + len(RETRY_DELAYS)
MAX_STEPS_PER_RUN: Final = 100
MOST_HINTS: Final = 5_000

RUN_EDGES: Final = frozenset({(RUNNING, COMPLETED), (RUNNING, CANCELLED)})
# (executing, executing) is a retry: a raised attempt, a new lease, or a back-off (decision A7).
STEP_EDGES: Final = frozenset(
    {
        (PENDING, EXECUTING),
        (EXECUTING, EXECUTING),
        (EXECUTING, COMPLETED),
        (EXECUTING, FAILED),
        (PENDING, FAILED),
    }
)

# Error code of a step that was cut short with its run.
RUN_ENDED: Final = "RUN_ENDED"

FINISHED: Final = "finished"
STEP_FAILED: Final = "step_failed"
NOT_ACTIVE: Final = "automation_not_active"
LOOP_CAP: Final = "loop_cap"
REMOVED: Final = "removed"
AUTOMATION_DELETED: Final = "automation_deleted"
STEP_NOT_FOUND: Final = "step_not_found"
ENDED_REASONS: Final = (
    FINISHED,
    STEP_FAILED,
    NOT_ACTIVE,
    LOOP_CAP,
    REMOVED,
    AUTOMATION_DELETED,
    STEP_NOT_FOUND,
)


def _plural_only(_row: Any, _asked: Any, _at: datetime) -> Change | Refused:
    raise TypeError("runs and step runs move by the plural door")


RUNS: Final = Machine[AutomationRun, str](
    "automation_run", AutomationRun, RUN_EDGES, str, _plural_only, str
)
STEP_RUNS: Final = Machine[AutomationStepRun, str](
    "automation_step_run", AutomationStepRun, STEP_EDGES, str, _plural_only, str
)


def claims(at: datetime) -> Mapping[str, Claim[Any]]:
    """Return how step runs are claimed at `at`: first executions, retries, lapsed leases.

    While claimed, due_at is the end of the lease, so one index finds retries and lapses.
    """
    row = AutomationStepRun
    leased = {"attempt": row.attempt + 1, "lease_until": at + LEASE, "due_at": at + LEASE}
    order = (row.due_at, row.id)
    due = row.due_at <= at
    return {
        "first": Claim(
            STEP_RUNS,
            (PENDING, EXECUTING),
            (due, row.held_at.is_(None)),
            {**leased, "started_at": at},
            order,
        ),
        "retry": Claim(
            STEP_RUNS, (EXECUTING, EXECUTING), (due, row.lease_until.is_(None)), leased, order
        ),
        "lapsed": Claim(
            STEP_RUNS, (EXECUTING, EXECUTING), (due, row.lease_until.is_not(None)), leased, order
        ),
    }


def coming(session: Session, since: datetime, until: datetime) -> Sequence[tuple[int, datetime]]:
    """Return (id, due_at) of waiting step runs that become due in (since, until], soonest first.

    At most MOST_HINTS: whatever is beyond, the next sweep finds due.
    """
    row = AutomationStepRun
    statement = (
        select(row.id, row.due_at)
        .where(
            STEP_RUNS.is_(PENDING), row.held_at.is_(None), row.due_at > since, row.due_at <= until
        )
        .order_by(row.due_at, row.id)
        .limit(MOST_HINTS)
    )
    return [(found.id, found.due_at) for found in session.execute(statement)]


def settle_steps(
    session: Session, to: str, rows: Sequence[Mapping[str, Any]], at: datetime
) -> None:
    """End executing step runs, each only if its claimed attempt is still the newest.

    rows: id, attempt, and the columns to write: result, failures, error_code, error_message.
    """
    if not rows:
        return
    batch = batch_table(session, _SETTLE_COLUMNS, rows)
    patch = {
        "completed_at": at,
        "lease_until": None,
        **{name: batch.c[name] for name in ("result", "failures", "error_code", "error_message")},
    }
    transition_many(session, STEP_RUNS, (EXECUTING, to), _same_attempt(batch), patch)


def back_off(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Put executing step runs back until their next try: due_at in the future, no lease."""
    if not rows:
        return
    batch = batch_table(session, {**_SETTLE_COLUMNS, "due_at": Instant()}, rows)
    patch = {
        "lease_until": None,
        **{name: batch.c[name] for name in ("due_at", "failures", "error_code", "error_message")},
    }
    transition_many(session, STEP_RUNS, (EXECUTING, EXECUTING), _same_attempt(batch), patch)


_SETTLE_COLUMNS: Final[Columns] = {
    "id": Id,
    "attempt": Id,
    "result": json_type(),
    "failures": json_type(),
    "error_code": String(),
    "error_message": String(),
}


def end_runs(session: Session, to: str, reasons: Mapping[int, str], at: datetime) -> Sequence[int]:
    """End running runs; return the ids that this call ended. Later calls change nothing."""
    if not reasons:
        return []
    rows = [{"id": run_id, "reason": reason} for run_id, reason in reasons.items()]
    batch = batch_table(session, {"id": Id, "reason": String()}, rows)
    patch = {"completed_at": at, "next_step_at": None, "ended_reason": batch.c.reason}
    moved = transition_many(session, RUNS, (RUNNING, to), [AutomationRun.id == batch.c.id], patch)
    return [row.id for row in moved]


def cancel_where(
    session: Session, where: Iterable[ColumnElement[bool]], reason: str, at: datetime
) -> int:
    """Cancel every running run that matches, with its waiting steps; return how many.

    Steps first, then runs: the order every writer takes locks in.
    """
    running = select(AutomationRun.id).where(RUNS.is_(RUNNING), *where)
    step_patch = {
        "completed_at": at,
        "error_code": RUN_ENDED,
        "error_message": "Automation run has ended",
    }
    transition_many(
        session,
        STEP_RUNS,
        (PENDING, FAILED),
        [AutomationStepRun.automation_run_id.in_(running)],
        step_patch,
    )
    patch = {"completed_at": at, "next_step_at": None, "ended_reason": reason}
    return len(transition_many(session, RUNS, (RUNNING, CANCELLED), where, patch))


def count_claims(session: Session, run_ids: Sequence[int]) -> Mapping[int, int]:
    """Raise steps_executed of runs by one first claim; return the new values."""
    if not run_ids:
        return {}
    statement = (
        update(AutomationRun)
        .where(AutomationRun.id.in_(run_ids))
        .values(steps_executed=AutomationRun.steps_executed + 1)
        .returning(AutomationRun.id, AutomationRun.steps_executed)
        .execution_options(synchronize_session=False)
    )
    return {row.id: row.steps_executed for row in session.execute(statement)}


def _same_attempt(batch: Any) -> list[ColumnElement[bool]]:
    return [
        AutomationStepRun.id == batch.c.id,
        AutomationStepRun.attempt == batch.c.attempt,
    ]
