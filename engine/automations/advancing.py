"""From outcomes to rows: what one settle writes, and how runs go on to their next step (facts 1.9).

The plan is pure; `advance` writes it. Nothing here knows a kind by name.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Executable, update
from sqlalchemy.orm import Session

from engine.automations import run_lifecycle, run_records
from engine.automations.claiming import RUN_ENDED, StepItem
from engine.automations.fanout import step_row
from engine.automations.graph import GraphStep
from engine.automations.hints import hint_steps
from engine.automations.kinds.steps.base import Completed, Deferred, Failed, Outcome, Passed
from engine.automations.models import CANCELLED, COMPLETED, RUNNING, AutomationRun
from engine.automations.run_lifecycle import MAX_EXECUTIONS, RETRY_DELAYS
from engine.core.db import (
    Id,
    Instant,
    JsonObject,
    Prepared,
    among,
    packed,
    rows_table,
    table_of,
)
from engine.delivery.service import Queued, Withheld


@dataclass
class Plan:
    """What one settle will write, grouped by kind of write. finished, cancelled: why, by run.

    broken: step, code and message of what failed for good, by run; used: rows of secrets.
    """

    completed: list[JsonObject] = field(default_factory=list)
    passed: list[JsonObject] = field(default_factory=list)
    failed: list[JsonObject] = field(default_factory=list)
    retried: list[JsonObject] = field(default_factory=list)
    deferred: list[JsonObject] = field(default_factory=list)
    skipped: list[JsonObject] = field(default_factory=list)
    following: list[JsonObject] = field(default_factory=list)
    finished: dict[int, str] = field(default_factory=dict)
    cancelled: dict[int, str] = field(default_factory=dict)
    broken: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)


def plan(
    plan: Plan,
    item: StepItem,
    outcome: Outcome,
    applied: Mapping[str, Any] | None,
    mail: Queued | Withheld | None,
    at: datetime,
) -> None:
    """Add one outcome. applied: what became of the person's change; mail: of the mail asked for."""
    match outcome:
        case Completed():
            plan.completed.append(_completed_row(item, outcome, applied, mail))
            plan.used.update(outcome.used)
            _go_on(plan, item, outcome.branch, at)
        case Passed(result):
            plan.passed.append({**_row(item), "result": dict(result)})
            _go_on(plan, item, None, at)
        case Deferred(until, result):
            waits = until if until > at else None
            row = {**_row(item), "due_at": until, "delay_until": waits, "run_id": item.run_id}
            plan.deferred.append({**row, "result": result})
        case Failed() if outcome is not RUN_ENDED and item.tries < MAX_EXECUTIONS:
            due = at + RETRY_DELAYS[item.tries - 1]
            plan.retried.append({**_failure_row(item, outcome, at), "due_at": due})
        case Failed():
            plan.failed.append(_failure_row(item, outcome, at))
            if outcome is not RUN_ENDED:
                plan.cancelled[item.run_id] = run_lifecycle.STEP_FAILED
                plan.broken[item.run_id] = (item.step.key, outcome.code, outcome.message)


def _row(item: StepItem) -> JsonObject:
    row = {"id": item.id, "attempt": item.attempt}
    return {**row, "failures": item.failures} if item.failures else row


def _completed_row(
    item: StepItem,
    outcome: Completed,
    applied: Mapping[str, Any] | None,
    mail: Queued | Withheld | None,
) -> JsonObject:
    row = _row(item)
    if isinstance(mail, Queued):
        row["email_send_id"] = mail.row_id
    result = {**(outcome.result or {}), **(applied or {})}
    reason = mail.reason if isinstance(mail, Withheld) else outcome.reason
    if reason:
        result["reason"] = reason
    if result:
        row["result"] = result
    return row


def _failure_row(item: StepItem, failure: Failed, at: datetime) -> JsonObject:
    entry: JsonObject = {
        "attempt": item.tries,
        "at": at.isoformat(),
        "code": failure.code,
        "message": failure.message,
    }
    if failure.detail is not None:
        entry["detail"] = dict(failure.detail)
    return {
        **_row(item),
        "failures": [*item.failures, entry],
        "error_code": failure.code,
        "error_message": failure.message,
    }


def _go_on(plan: Plan, item: StepItem, branch: str | None, at: datetime) -> None:
    target = item.graph.following(item.step.index, branch)
    plan.skipped.extend(
        _skipped_row(item, passed) for passed in item.graph.skipped(item.step.index, target)
    )
    following = item.graph.at(target)
    if following is None:
        plan.finished[item.run_id] = run_lifecycle.FINISHED
        return
    try:
        row = step_row(item.run_id, item.workspace_id, following, at)
    except (ValueError, OverflowError):
        # The finished step stays finished (decision A6); a run that cannot go on is ended.
        plan.cancelled[item.run_id] = run_lifecycle.STEP_NOT_FOUND
    else:
        carried = item.skip if item.carries and row["delay_until"] is None else None
        plan.following.append({**row, "automation_id": item.automation_id, "result": carried})


def _skipped_row(item: StepItem, passed: GraphStep) -> JsonObject:
    return {
        "workspace_id": item.workspace_id,
        "automation_id": item.automation_id,
        "automation_run_id": item.run_id,
        "step_index": passed.index,
        "step_key": passed.key,
        "step_type": passed.type,
    }


def advance(session: Session, plan: Plan, at: datetime) -> tuple[Sequence[int], Mapping[int, str]]:
    """Move runs on or end them; return the step runs due at once, and why runs ended, by run.

    A run that was ended meanwhile stays ended: its step is written, nothing follows it.
    """
    done = run_lifecycle.end_runs(session, COMPLETED, plan.finished, at)
    stopped = run_lifecycle.end_runs(session, CANCELLED, plan.cancelled, at)
    broken = {run_id: told for run_id, told in plan.broken.items() if run_id in stopped}
    run_records.note_failures(session, broken, at)
    moved = _move_on(session, plan.following)
    alive = {*done, *moved}
    asked = {row["automation_run_id"] for row in plan.following}
    _count_left(session, {*asked, *plan.finished, *plan.cancelled} - {*alive, *stopped})
    run_records.record_skipped(
        session, [row for row in plan.skipped if row["automation_run_id"] in alive], at
    )
    made = run_records.create_step_runs(
        session, [row for row in plan.following if row["automation_run_id"] in moved], at
    )
    hint_steps(session, [(row_id, due) for row_id, due in made if due > at], at)
    ended = {run_id: plan.finished[run_id] for run_id in done}
    ended |= {run_id: plan.cancelled[run_id] for run_id in stopped}
    return [row_id for row_id, due in made if due <= at], ended


def _count_left(session: Session, run_ids: Collection[int]) -> None:
    """Count the step of runs that somebody else ended while it was being written."""
    if run_ids:
        session.execute(
            update(AutomationRun)
            .where(among(session, AutomationRun.id, run_ids))
            .values(steps_executed=AutomationRun.steps_executed + 1)
            .execution_options(synchronize_session=False)
        )


def _move_on(session: Session, following: Sequence[JsonObject]) -> set[int]:
    """Set the place of running runs; next_step_at only while waiting (facts 1.1)."""
    if not following:
        return set()
    rows = [
        {
            "id": row["automation_run_id"],
            "place": row["step_index"],
            "waits": row["delay_until"],
        }
        for row in following
    ]
    return set(_MOVE_ON.run(session, rows=packed(session, rows)).scalars())


def _prepare_move_on(dialect: str) -> Executable:
    table = table_of(AutomationRun)
    rows = rows_table(dialect, {"id": Id, "place": Id, "waits": Instant()})
    return (
        update(table)
        .where(table.c.id == rows.c.id, run_lifecycle.RUNS.at(RUNNING))
        .values(
            current_step_index=rows.c.place,
            next_step_at=rows.c.waits,
            steps_executed=table.c.steps_executed + 1,
        )
        .returning(table.c.id)
    )


_MOVE_ON: Final = Prepared(_prepare_move_on)
