"""How step runs are claimed: the first time, for a retry, after a lapse; and parked when on hold.

The plural door of the step run's machine for whoever takes steps up; `run_lifecycle` ends them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import String, and_, bindparam, case, func, select, type_coerce
from sqlalchemy.orm import Session

from engine.accounts.queries import suspended
from engine.automations import run_lifecycle, run_records
from engine.automations.hints import SWEEP_PERIOD
from engine.automations.models import CANCELLED, EXECUTING, FAILED, PENDING, AutomationStepRun
from engine.automations.run_lifecycle import MOST_HINTS, STEP_FAILED, STEP_RUNS
from engine.core.db import Instant, among, table_of
from engine.core.machine import transition_many
from engine.core.walking import Claim

LEASE: Final = timedelta(seconds=120)
# How long a claim that met a resume leaves the row alone.
LATER: Final = timedelta(seconds=1)
INVALID_DUE_TIME: Final = "INVALID_DUE_TIME"
_UNREADABLE: Final = "The due time of the step cannot be read"
FIRST: Final = "first"
RETRY: Final = "retry"
LAPSED: Final = "lapsed"
_STEP: Final = table_of(AutomationStepRun).c
_CLAIMED: Final = (
    "id",
    "automation_run_id",
    "workspace_id",
    "step_index",
    "attempt",
    "scheduled_at",
    "step_key",
    "result",
    "failures",
    "heard",
)


def _claim(edge: tuple[str, str], *due: Any, **patch: Any) -> Claim:
    at, until = bindparam("at", type_=Instant()), bindparam("until", type_=Instant())
    # While claimed, due_at is the end of the lease, so one index finds retries and lapses. What is
    # due in a suspended workspace is left alone until it goes on.
    ready = (_STEP.due_at <= at, _STEP.held_at.is_(None), _STEP.workspace_id.not_in(suspended()))
    leased = {"attempt": _STEP.attempt + 1, "lease_until": until, "due_at": until, **patch}
    return Claim(STEP_RUNS, edge, (*ready, *due), leased, [_STEP[name] for name in _CLAIMED])


# The ways a step run is claimed: for its first execution, for a retry, after a lapsed lease.
_CLAIMS: Final = {
    FIRST: _claim((PENDING, EXECUTING), started_at=bindparam("at", type_=Instant())),
    RETRY: _claim((EXECUTING, EXECUTING), _STEP.lease_until.is_(None)),
    LAPSED: _claim((EXECUTING, EXECUTING), _STEP.lease_until.is_not(None)),
}


def take(
    session: Session, way: str, ids: Sequence[int] | None, limit: int, at: datetime
) -> Sequence[Any]:
    """Claim up to `limit` due step runs (of `ids`, or any); their lease ends after LEASE.

    way: FIRST, RETRY or LAPSED. Returns what `claiming.guard` looks at.
    """
    return _CLAIMS[way].take(session, ids, limit, at=at, until=at + LEASE)


def park(session: Session, first: Sequence[int], again: Sequence[int], at: datetime) -> None:
    """Undo claims of this very transaction: their automation is on hold (decision A11).

    first: claimed for their first execution; again: retries and lapses. Parked rows leave the due
    indexes; due_at tells again when they were due, for the choice at the resume.
    """
    row = AutomationStepRun
    due = func.coalesce(row.delay_until, row.scheduled_at)
    _undo(session, first, again, {"held_at": at, "due_at": due})


def put_back(session: Session, first: Sequence[int], again: Sequence[int], at: datetime) -> None:
    """Undo claims of this very transaction: their automation is just being resumed."""
    _undo(session, first, again, {"due_at": at + LATER})


def _undo(
    session: Session, first: Sequence[int], again: Sequence[int], columns: Mapping[str, Any]
) -> None:
    row = AutomationStepRun
    patch = {"attempt": row.attempt - 1, "lease_until": None, **columns}
    if first:
        # Who was put off before keeps the instant of that.
        begun = case((row.attempt > 1, row.started_at), else_=None)
        again_pending = {**patch, "started_at": begun}
        transition_many(
            session, STEP_RUNS, (EXECUTING, PENDING), [among(session, row.id, first)], again_pending
        )
    if again:
        transition_many(
            session, STEP_RUNS, (EXECUTING, EXECUTING), [among(session, row.id, again)], patch
        )


def fail_unreadable(session: Session, at: datetime) -> int:
    """Fail waiting step runs whose due time is no instant, and end their runs (SQLite alone).

    Nothing of the product writes such a value; a hand in the database can. Two ranges of the due
    index hold them: every instant begins with a digit. What only looks like an instant matters
    when its time comes, to the one that reads it (`coming`).
    """
    if session.get_bind().dialect.name != "sqlite":
        return 0
    row = AutomationStepRun
    text = type_coerce(row.due_at, String())
    patch = {
        "due_at": at,
        "completed_at": at,
        "error_code": INVALID_DUE_TIME,
        "error_message": _UNREADABLE,
    }
    key = (row.automation_run_id, row.step_key)
    broken: dict[int, tuple[str, str, str]] = {}
    soon = and_(row.due_at > at, row.due_at <= at + 2 * SWEEP_PERIOD, func.datetime(text).is_(None))
    # Not a bare "0": beside a column of times SQLite would read it as a number, and every text is
    # greater than that.
    for wrong in (text >= ":", text < "0-", soon):
        where = [row.held_at.is_(None), wrong]
        failed = transition_many(session, STEP_RUNS, (PENDING, FAILED), where, patch, key)
        run_lifecycle.count_moved(session, failed, FAILED, PENDING)
        for run_id, step_key in failed:
            broken[run_id] = (step_key, INVALID_DUE_TIME, _UNREADABLE)
    reasons = dict.fromkeys(broken, STEP_FAILED)
    ended = run_lifecycle.end_runs(session, CANCELLED, reasons, at, executed=0)
    run_records.note_failures(session, {run_id: broken[run_id] for run_id in ended}, at)
    return len(broken)


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
