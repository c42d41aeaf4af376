"""The only writer of the statuses of runs and step runs, by the machine's plural door.

Counters and the run log take the place of audit rows here (architecture 4).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Executable,
    Integer,
    String,
    Subquery,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.orm import Session

from engine.automations import counters
from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    EXECUTING,
    FAILED,
    PENDING,
    RUNNING,
    SKIPPED,
    AutomationRun,
    AutomationStepRun,
)
from engine.core.db import (
    Columns,
    Id,
    Instant,
    Prepared,
    among,
    json_type,
    packed,
    rows_table,
    table_of,
)
from engine.core.machine import Change, Machine, prepare_many, transition_many
from engine.core.outcome import Refused

# Before the second, third and fourth execution (facts 1.8).
RETRY_DELAYS: Final = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30))
MAX_EXECUTIONS: Final = 1 + len(RETRY_DELAYS)
# A visit that is put off gives its execution back, yet no older claim may look like a newer one: so
# its attempt goes up by this, less one. What stands below it is how often the step was tried.
PUT_OFF: Final = 1_000
MAX_STEPS_PER_RUN: Final = 100
MOST_HINTS: Final = 5_000

# (cancelled, running): a person lets a run go on that came to grief; nothing else revives one.
RUN_EDGES: Final = frozenset({(RUNNING, COMPLETED), (RUNNING, CANCELLED), (CANCELLED, RUNNING)})
# (executing, executing) is a retry: a raised attempt, a new lease, or a back-off (decision A7).
# (executing, pending) takes a claim back in its own transaction, for the automation is on hold or
# being resumed (A11), or puts a visit off. (pending, pending) moves a wait. A skip of a resume goes
# through a claim, so that it happens once; (pending, skipped) is a person's act on one run.
STEP_EDGES: Final = frozenset(
    {
        (PENDING, EXECUTING),
        (PENDING, PENDING),
        (EXECUTING, PENDING),
        (EXECUTING, EXECUTING),
        (EXECUTING, COMPLETED),
        (EXECUTING, SKIPPED),
        (EXECUTING, FAILED),
        (PENDING, FAILED),
        (PENDING, SKIPPED),
    }
)

# Error code of a step that was cut short with its run.
RUN_ENDED: Final = "RUN_ENDED"
NOT_FOUND: Final = "NOT_FOUND"
NO_LONGER_ACTIVE: Final = "NOT_ACTIVE"
# Codes of a visit that came to nothing because the run ended around it.
DEPARTURES: Final = frozenset({RUN_ENDED, NOT_FOUND, NO_LONGER_ACTIVE})

FINISHED: Final = "finished"
STEP_FAILED: Final = "step_failed"
NOT_ACTIVE: Final = "automation_not_active"
LOOP_CAP: Final = "loop_cap"
REMOVED: Final = "removed"
AUTOMATION_DELETED: Final = "automation_deleted"
STEP_NOT_FOUND: Final = "step_not_found"
STOPPED: Final = "stopped"
ENDED_BY_PERSON: Final = "ended_by_person"
ENDED_REASONS: Final = (
    FINISHED,
    STEP_FAILED,
    NOT_ACTIVE,
    LOOP_CAP,
    REMOVED,
    AUTOMATION_DELETED,
    STEP_NOT_FOUND,
    STOPPED,
    ENDED_BY_PERSON,
)


def _plural_only(_row: Any, _asked: Any, _at: datetime) -> Change | Refused:
    raise TypeError("runs and step runs move by the plural door")


RUNS: Final = Machine[AutomationRun, str](
    "automation_run", AutomationRun, RUN_EDGES, str, _plural_only, str
)
STEP_RUNS: Final = Machine[AutomationStepRun, str](
    "automation_step_run", AutomationStepRun, STEP_EDGES, str, _plural_only, str
)


def settle_steps(
    session: Session, to: str, rows: Sequence[Mapping[str, Any]], at: datetime
) -> Collection[int]:
    """End executing step runs, each only if its claimed attempt is still the newest.

    rows: id, attempt, and the columns to write: result, failures, email_send_id, error_code,
    error_message. Returns the ids that this call ended.
    """
    if not rows:
        return set()
    return set(_SETTLE[to].run(session, rows=packed(session, rows), at=at).scalars())


def tries(attempt: int) -> int:
    """Return how often a step was tried, from the attempt of its visit."""
    return attempt % PUT_OFF


def put_off(session: Session, rows: Sequence[Mapping[str, Any]]) -> Collection[int]:
    """Put executing step runs back into their wait: the same visit is due again later.

    rows: id, attempt, due_at, delay_until, result, failures. Returns the ids that this call moved.
    """
    if not rows:
        return set()
    return set(_PUT_OFF.run(session, rows=packed(session, rows)).scalars())


def back_off(session: Session, rows: Sequence[Mapping[str, Any]]) -> Collection[int]:
    """Put executing step runs back until their next try: due_at in the future, no lease.

    rows: as for `settle_steps`, with the new due_at.
    """
    if not rows:
        return set()
    return set(_BACK_OFF.run(session, rows=packed(session, rows)).scalars())


_STEP: Final = table_of(AutomationStepRun).c
_RUN: Final = table_of(AutomationRun).c
_AT: Final = bindparam("at", type_=Instant())
_WRITTEN: Final[Columns] = {
    "result": json_type(),
    "failures": json_type(),
    "email_send_id": Id,
    "error_code": String(),
    "error_message": String(),
}
_AGAIN: Final[Columns] = {"due_at": Instant(), "delay_until": Instant(), **_WRITTEN}


def _prepare_settling(
    to: str, names: Collection[str], more: Mapping[str, Any], dialect: str
) -> Executable:
    """Move executing step runs that stand in the rows, if the attempt is the claimed one.

    The old status is a column of the rows: see `transition_many`.
    """
    written = {name: _AGAIN[name] for name in names}
    rows = rows_table(dialect, {"id": Id, "attempt": Integer(), **written})
    patch = {"lease_until": None, **{name: rows.c[name] for name in names}, **more}
    where = (_STEP.id == rows.c.id, _STEP.attempt == rows.c.attempt, _STEP.held_at.is_(None))
    edge, was = (EXECUTING, to), _constant(rows, EXECUTING)
    return prepare_many(STEP_RUNS, edge, where, patch, was=was)


def _constant(rows: Subquery, status: str) -> ColumnElement[str]:
    """Return a status that the planner takes for a column of the rows, not for a constant."""
    return func.coalesce(cast(func.nullif(rows.c.id, rows.c.id), String()), status)


_SETTLE: Final = {
    to: Prepared(partial(_prepare_settling, to, _WRITTEN, {"completed_at": _AT}))
    for to in (COMPLETED, SKIPPED, FAILED)
}
_BACK_OFF: Final = Prepared(
    partial(_prepare_settling, EXECUTING, ("due_at", "failures", "error_code", "error_message"), {})
)
_PUT_OFF: Final = Prepared(
    partial(
        _prepare_settling,
        PENDING,
        tuple(_AGAIN),
        {"attempt": _STEP.attempt + PUT_OFF - 1},
    )
)


def end_runs(
    session: Session, to: str, reasons: Mapping[int, str], at: datetime, executed: int = 1
) -> Mapping[int, int]:
    """End running runs at a step; return automation by run of those that this call ended.

    The step counts as executed: steps_executed is raised once for each visit, by the write that
    takes the run away from it, so that no claim has to write the run (decision A7). executed: 0
    where nobody ever claimed the step.
    """
    if not reasons:
        return {}
    rows = packed(session, [{"id": run_id, "why": why} for run_id, why in reasons.items()])
    moved = _END[to].run(session, rows=rows, at=at, executed=executed)
    return _count_ended(session, moved.all(), to)


def _prepare_end(to: str, dialect: str) -> Executable:
    rows = rows_table(dialect, {"id": Id, "why": String()})
    patch = {
        "completed_at": _AT,
        "next_step_at": None,
        "ended_reason": rows.c.why,
        "steps_executed": _RUN.steps_executed + bindparam("executed", type_=Integer()),
    }
    key = (_RUN.id, _RUN.automation_id, _RUN.workspace_id)
    return prepare_many(RUNS, (RUNNING, to), [_RUN.id == rows.c.id], patch, key)


_END: Final = {to: Prepared(partial(_prepare_end, to)) for to in (COMPLETED, CANCELLED)}


def cancel_where(
    session: Session, where: Iterable[ColumnElement[bool]], reason: str, at: datetime
) -> int:
    """Cancel every running run that matches, with its waiting steps; return how many.

    Steps first, then runs: the order every writer takes locks in. A settle that was moving a run on
    has been waited for by then, so the visit that it made is looked for once more.
    """
    running = select(AutomationRun.id).where(RUNS.is_(RUNNING), *where)
    failed = _cut_short(session, AutomationStepRun.automation_run_id.in_(running), at)
    patch = {"completed_at": at, "next_step_at": None, "ended_reason": reason}
    moved = transition_many(session, RUNS, (RUNNING, CANCELLED), where, patch, _RUN_KEY)
    if moved:
        ended = [row.id for row in moved]
        late = among(session, AutomationStepRun.automation_run_id, ended)
        failed = [*failed, *_cut_short(session, late, at)]
    count_moved(session, failed, FAILED, PENDING)
    count_moved(session, failed, counters.DEPARTED)
    return len(_count_ended(session, moved, CANCELLED))


def _cut_short(session: Session, which: ColumnElement[bool], at: datetime) -> Sequence[Any]:
    """Fail waiting visits; return (automation_run_id, step_key) of each."""
    patch = {
        "completed_at": at,
        "held_at": None,
        "error_code": RUN_ENDED,
        "error_message": "Automation run has ended",
    }
    key = (AutomationStepRun.automation_run_id, AutomationStepRun.step_key)
    return transition_many(session, STEP_RUNS, (PENDING, FAILED), [which], patch, key)


_RUN_KEY: Final = (AutomationRun.id, AutomationRun.automation_id, AutomationRun.workspace_id)


def _count_ended(session: Session, moved: Sequence[Any], to: str) -> Mapping[int, int]:
    for (workspace_id, automation_id), by in Counter(
        (row.workspace_id, row.automation_id) for row in moved
    ).items():
        counters.count_runs(session, (workspace_id, automation_id), to, by)
    return {row.id: row.automation_id for row in moved}


def count_moved(session: Session, moved: Sequence[Any], to: str, was: str | None = None) -> None:
    """Count moved step runs given as (automation_run_id, step_key)."""
    if not moved:
        return
    run = AutomationRun
    wanted = {row.automation_run_id for row in moved}
    found = session.execute(
        select(run.id, run.workspace_id, run.automation_id).where(among(session, run.id, wanted))
    )
    keys = {row_id: (workspace_id, owner) for row_id, workspace_id, owner in found}
    moves = ((*keys[row.automation_run_id], row.step_key) for row in moved)
    counters.count_steps(session, moves, to, was)
