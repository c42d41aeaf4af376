"""Settling a batch: completion and advance in one transaction (decision A6).

Per item only if the claimed attempt is still the newest and the run still runs. Locks are taken in
one order everywhere: step runs, then runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.automations import run_lifecycle, run_records
from engine.automations.claiming import RUN_ENDED, StepItem
from engine.automations.fanout import step_row
from engine.automations.hints import hint_steps
from engine.automations.kinds.steps.base import Completed, Failed, Outcome
from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    EXECUTING,
    FAILED,
    RUNNING,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.run_lifecycle import MAX_EXECUTIONS, RETRY_DELAYS
from engine.core.db import Id, Instant, JsonObject, batch_table
from engine.delivery import service as delivery


@dataclass
class Plan:
    """What one settle will write, grouped by kind of write."""

    completed: list[JsonObject] = field(default_factory=list)
    failed: list[JsonObject] = field(default_factory=list)
    retried: list[JsonObject] = field(default_factory=list)
    skipped: list[JsonObject] = field(default_factory=list)
    following: list[JsonObject] = field(default_factory=list)
    sends: dict[int, delivery.SendRequest] = field(default_factory=dict)
    finished: dict[int, str] = field(default_factory=dict)
    cancelled: dict[int, str] = field(default_factory=dict)


def settle(
    session: Session,
    items: Sequence[StepItem],
    outcomes: Mapping[int, Outcome],
    at: datetime,
) -> Sequence[int]:
    """Write the outcomes of claimed items and return the next step runs that are due at once."""
    plan = Plan()
    standing = _lock(session, items)
    for item in items:
        if item.id in standing:
            outcome = outcomes.get(item.id) if standing[item.id] else RUN_ENDED
            _plan(plan, item, outcome, at)
    return _write(session, plan, at)


def _lock(session: Session, items: Sequence[StepItem]) -> Mapping[int, bool]:
    """Lock the step runs that are still ours; answer by id whether the run still runs."""
    step, run = AutomationStepRun, AutomationRun
    attempts = {item.id: item.attempt for item in items}
    statement = (
        select(step.id, step.attempt, run.status)
        .join(run, run.id == step.automation_run_id)
        .where(step.id.in_(attempts), run_lifecycle.STEP_RUNS.is_(EXECUTING))
        .order_by(step.id)
        .with_for_update(of=[step, run])
    )
    return {
        step_id: status == RUNNING
        for step_id, attempt, status in session.execute(statement)
        if attempts[step_id] == attempt
    }


def _plan(plan: Plan, item: StepItem, outcome: Outcome | None, at: datetime) -> None:
    if isinstance(outcome, Completed):
        _plan_completed(plan, item, outcome, at)
        return
    failure = outcome or Failed("NO_OUTCOME", f"{item.step.type} step: answered nothing")
    if failure is not RUN_ENDED and item.attempt < MAX_EXECUTIONS:
        due = at + RETRY_DELAYS[item.attempt - 1]
        plan.retried.append({**_failure_row(item, failure, at), "due_at": due})
        return
    plan.failed.append(_failure_row(item, failure, at))
    if failure is not RUN_ENDED:
        plan.cancelled[item.run_id] = run_lifecycle.STEP_FAILED


def _plan_completed(plan: Plan, item: StepItem, outcome: Completed, at: datetime) -> None:
    result = {**(outcome.result or {}), **({"reason": outcome.reason} if outcome.reason else {})}
    plan.completed.append(
        {
            "id": item.id,
            "attempt": item.attempt,
            "result": result or None,
            "failures": list(item.failures) or None,
        }
    )
    if outcome.send is not None:
        plan.sends[item.id] = outcome.send
    target = item.graph.following(item.step.index, outcome.branch)
    for passed in item.graph.skipped(item.step.index, target):
        plan.skipped.append(_skipped_row(item, passed))
    following = item.graph.at(target)
    if following is None:
        plan.finished[item.run_id] = run_lifecycle.FINISHED
        return
    try:
        plan.following.append(step_row(item.run_id, item.workspace_id, following, at))
    except (ValueError, OverflowError):
        # The finished step stays finished (decision A6); a run that cannot go on is ended.
        plan.cancelled[item.run_id] = run_lifecycle.STEP_NOT_FOUND


def _skipped_row(item: StepItem, passed: Any) -> JsonObject:
    return {
        "workspace_id": item.workspace_id,
        "automation_run_id": item.run_id,
        "step_index": passed.index,
        "step_key": passed.key,
        "step_type": passed.type,
    }


def _failure_row(item: StepItem, failure: Failed, at: datetime) -> JsonObject:
    entry = {
        "attempt": item.attempt,
        "at": at.isoformat(),
        "code": failure.code,
        "message": failure.message,
    }
    return {
        "id": item.id,
        "attempt": item.attempt,
        "failures": [*item.failures, entry],
        "error_code": failure.code,
        "error_message": failure.message,
    }


def _write(session: Session, plan: Plan, at: datetime) -> Sequence[int]:
    run_lifecycle.settle_steps(session, COMPLETED, plan.completed, at)
    run_lifecycle.settle_steps(session, FAILED, plan.failed, at)
    run_lifecycle.back_off(session, plan.retried)
    hint_steps(session, [(row["id"], row["due_at"]) for row in plan.retried], at)
    _queue_mails(session, plan.sends, at)
    run_records.record_skipped(session, plan.skipped, at)
    run_lifecycle.end_runs(session, COMPLETED, plan.finished, at)
    run_lifecycle.end_runs(session, CANCELLED, plan.cancelled, at)
    _advance(session, plan.following, at)
    made = run_records.create_step_runs(session, plan.following)
    hint_steps(session, [(row_id, due) for row_id, due in made if due > at], at)
    return [row_id for row_id, due in made if due <= at]


def _queue_mails(session: Session, sends: Mapping[int, delivery.SendRequest], at: datetime) -> None:
    """Queue the mails of completed steps and note on each step run which send it is."""
    if not sends:
        return
    queued = delivery.enqueue_many(session, list(sends.values()), at)
    rows = [
        {"id": step_run_id, "send": queued[request.dedupe_key]}
        for step_run_id, request in sends.items()
    ]
    batch = batch_table(session, {"id": Id, "send": Id}, rows)
    session.execute(
        update(AutomationStepRun)
        .where(AutomationStepRun.id == batch.c.id)
        .values(email_send_id=batch.c.send)
        .execution_options(synchronize_session=False)
    )


def _advance(session: Session, following: Sequence[JsonObject], at: datetime) -> None:
    """Move the runs to their next step; next_step_at only while waiting (facts 1.1)."""
    if not following:
        return
    rows = [
        {
            "id": row["automation_run_id"],
            "place": row["step_index"],
            "waits": row["due_at"] if row["due_at"] > at else None,
        }
        for row in following
    ]
    batch = batch_table(session, {"id": Id, "place": Id, "waits": Instant()}, rows)
    session.execute(
        update(AutomationRun)
        .where(AutomationRun.id == batch.c.id)
        .values(current_step_index=batch.c.place, next_step_at=batch.c.waits)
        .execution_options(synchronize_session=False)
    )
