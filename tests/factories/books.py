"""Checks that statuses, counters and the log of the engine agree, whatever happened before.

`assert_books(session)` is for the end of any test that walks, crashes, races or counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.counters import DEPARTED, PASSED
from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    EXECUTING,
    FAILED,
    PENDING,
    RUNNING,
    SKIPPED,
    AutomationRun,
    AutomationStatShard,
    AutomationStepRun,
    AutomationStepStat,
)
from engine.automations.run_lifecycle import DEPARTURES, RUN_ENDED, STEP_FAILED
from engine.delivery.models import KIND_AUTOMATION, EmailSend

OPEN: Final = (PENDING, EXECUTING)
DONE: Final = (COMPLETED, FAILED, SKIPPED)
# How many breaches of one sort are told; the rest would say the same.
TOLD: Final = 5


@dataclass
class _Run:
    """One run with what its visits add up to."""

    automation_id: int
    contact_id: int
    status: str
    place: int
    executed: int
    ended: bool
    reasoned: bool
    waits: bool
    failed: bool
    noted: bool
    open_places: list[int] = field(default_factory=list)
    left: int = 0
    cut: int = 0


def assert_books(session: Session, *, pruned: bool = False) -> None:
    """Fail with every disagreement found; reads all runs of all workspaces.

    session: not scoped to a workspace. pruned: the retention has deleted runs, so the counters may
    say more than the rows that are left, and never less.
    """
    found = faults(session, pruned=pruned)
    assert not found, "\n".join(found)


def faults(session: Session, *, pruned: bool = False) -> Sequence[str]:
    """Return what disagrees, as sentences; nothing where the books are right."""
    session.flush()
    runs = _runs(session)
    visits = _visits(session, runs)
    return [
        *_compared("runs", _shards(session), _by_status(runs.values()), pruned=pruned),
        *_compared("visits", _step_stats(session), visits, pruned=pruned),
        *_standing(runs),
        *_twice(runs.values()),
        *_instants(session),
        *_sends(session),
    ]


def _runs(session: Session) -> dict[int, _Run]:
    row = AutomationRun
    found = session.execute(
        select(
            row.id,
            row.automation_id,
            row.contact_id,
            row.status,
            row.current_step_index,
            row.steps_executed,
            row.completed_at.is_not(None),
            row.ended_reason.is_not(None),
            row.next_step_at.is_not(None),
            func.coalesce(row.ended_reason, "") == STEP_FAILED,
            row.error_code.is_not(None),
        )
    )
    return {run_id: _Run(*values) for run_id, *values in found}


def _visits(session: Session, runs: Mapping[int, _Run]) -> Counter[tuple[object, ...]]:
    """Return visits by (automation, key, status); note open and left ones on their runs."""
    row = AutomationStepRun
    counts: Counter[tuple[object, ...]] = Counter()
    found = session.execute(
        select(
            row.automation_run_id,
            row.step_key,
            row.step_index,
            row.status,
            row.attempt,
            row.error_code,
            row.result,
        )
    )
    for run_id, key, place, status, attempt, code, result in found:
        run = runs[run_id]
        counts[run.automation_id, key, status] += 1
        # By a claim that was told to, or by a person's own act.
        stood = attempt > 0 or "skip" in (result or {})
        counts[run.automation_id, key, PASSED] += status == SKIPPED and stood
        counts[run.automation_id, key, DEPARTED] += status == FAILED and code in DEPARTURES
        if status in OPEN:
            run.open_places.append(place)
        elif attempt:
            run.left += 1
            # Its run was ended by others while it was being executed.
            run.cut += code == RUN_ENDED
    return counts


def _by_status(runs: Iterable[_Run]) -> Counter[tuple[object, ...]]:
    counts: Counter[tuple[object, ...]] = Counter()
    for run in runs:
        counts[run.automation_id, "entered"] += 1
        if run.status in (COMPLETED, CANCELLED):
            counts[run.automation_id, run.status] += 1
    return counts


def _shards(session: Session) -> Counter[tuple[object, ...]]:
    row = AutomationStatShard
    names = ("entered", COMPLETED, CANCELLED)
    sums = [func.sum(getattr(row, name)) for name in names]
    found = session.execute(select(row.automation_id, *sums).group_by(row.automation_id))
    counts: Counter[tuple[object, ...]] = Counter()
    for automation_id, *values in found:
        named = zip(names, values, strict=True)
        counts.update({(automation_id, name): int(number) for name, number in named})
    return counts


def _step_stats(session: Session) -> Counter[tuple[object, ...]]:
    row = AutomationStepStat
    names = (*OPEN, *DONE, PASSED, DEPARTED)
    sums = [func.sum(getattr(row, name)) for name in names]
    found = session.execute(
        select(row.automation_id, row.step_key, *sums).group_by(row.automation_id, row.step_key)
    )
    counts: Counter[tuple[object, ...]] = Counter()
    for automation_id, key, *values in found:
        named = zip(names, values, strict=True)
        counts.update({(automation_id, key, name): int(number) for name, number in named})
    return counts


def _compared(
    what: str,
    counted: Counter[tuple[object, ...]],
    rows: Counter[tuple[object, ...]],
    *,
    pruned: bool,
) -> list[str]:
    """Return where counters and rows differ; open ones are never pruned, so they always agree."""

    def differ(key: tuple[object, ...]) -> bool:
        if pruned and key[-1] not in OPEN:
            return counted[key] < rows[key]
        return counted[key] != rows[key]

    wrong = [
        f"{what} {key}: the counters say {counted[key]}, the rows {rows[key]}"
        for key in sorted(counted.keys() | rows.keys(), key=str)
        if differ(key)
    ]
    return wrong[:TOLD]


def _standing(runs: Mapping[int, _Run]) -> list[str]:
    """Return runs that stand nowhere, in two places, elsewhere than they say, or go on ended."""
    wrong = []
    for run_id, run in runs.items():
        places = sorted(run.open_places)
        if run.status == RUNNING and places != [run.place]:
            wrong.append(f"run {run_id} is at {run.place} and has open visits at {places}")
        if run.status != RUNNING and places:
            wrong.append(f"run {run_id} has ended and has open visits at {places}")
        if (run.status != RUNNING) != run.ended or run.ended != run.reasoned:
            wrong.append(f"run {run_id} is {run.status}: its end and its reason do not fit")
        if run.status != RUNNING and run.waits:
            wrong.append(f"run {run_id} has ended and waits")
        if run.failed != run.noted:
            wrong.append(f"run {run_id} and its note of a failed step do not fit")
        if run.executed != run.left - run.cut:
            wrong.append(f"run {run_id} counts {run.executed} steps, its visits {run.left}")
    return wrong[:TOLD]


def _twice(runs: Iterable[_Run]) -> list[str]:
    inside = Counter((run.automation_id, run.contact_id) for run in runs if run.status == RUNNING)
    return [
        f"contact {contact} is {times} times inside automation {automation}"
        for (automation, contact), times in inside.items()
        if times > 1
    ][:TOLD]


def _instants(session: Session) -> list[str]:
    row = AutomationStepRun
    wrong = (
        ("has ended at no instant", row.status.in_(DONE), row.completed_at.is_(None)),
        ("is open and has an end", row.status.in_(OPEN), row.completed_at.is_not(None)),
        ("has ended and a lease", row.status.in_(DONE), row.lease_until.is_not(None)),
        ("is pending and has a lease", row.status == PENDING, row.lease_until.is_not(None)),
        ("has ended and is parked", row.status.in_(DONE), row.held_at.is_not(None)),
        ("failed without a code", row.status == FAILED, row.error_code.is_(None)),
        ("was executed and never begun", row.attempt > 0, row.started_at.is_(None)),
    )
    return [
        f"visit {visit_id} {words}"
        for words, *where in wrong
        for visit_id in session.scalars(select(row.id).where(*where).limit(TOLD))
    ]


def _sends(session: Session) -> list[str]:
    """Return mails of automations that no visit, or more than one, or an unfinished one queued."""
    step, send = AutomationStepRun, EmailSend
    owners = (
        select(send.id, func.count(step.id), func.max(step.status), func.min(step.status))
        .outerjoin(step, step.email_send_id == send.id)
        .where(send.kind == KIND_AUTOMATION)
        .group_by(send.id)
    )
    return [
        f"mail {send_id} belongs to {count} visits ({least}…{most})"
        for send_id, count, most, least in session.execute(owners)
        if count != 1 or most != COMPLETED
    ][:TOLD]
