"""Settling a batch: completion, what the outcomes ask for, and advance in one transaction (A6).

Per item only if the claimed attempt is still the newest and the run still runs. Locks are taken in
one order everywhere: automations, contacts, step runs, runs, sends, counters.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Executable, or_, select
from sqlalchemy.orm import Session

from engine.accounts.service.secrets import note_used
from engine.audience.models import Contact
from engine.automations import advancing, applying, counters, lifecycle, run_lifecycle, run_records
from engine.automations.advancing import Plan
from engine.automations.claiming import RUN_ENDED, StepItem
from engine.automations.hints import hint_steps
from engine.automations.kinds.steps.base import Completed, Deferred, Failed, Outcome, Passed
from engine.automations.models import (
    COMPLETED,
    EXECUTING,
    FAILED,
    PENDING,
    RUNNING,
    SKIPPED,
    Automation,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.run_lifecycle import MAX_EXECUTIONS
from engine.core.db import Prepared, among, among_bound, many, table_of
from engine.delivery import service as delivery
from engine.delivery.service import Queued, Withheld


class Overtaken(Exception):
    """Another worker took a step, or a person ended a run, while this batch was being written."""


NO_OUTCOME: Final = "NO_OUTCOME"
_OUTCOMES: Final = (Completed, Failed, Passed, Deferred)


def settle(
    session: Session,
    items: Sequence[StepItem],
    outcomes: Mapping[int, Outcome],
    at: datetime,
) -> Sequence[int]:
    """Write the outcomes of claimed items and return the next step runs that are due at once.

    Raises Overtaken where the rows changed meanwhile: roll back and settle again.
    """
    standing = _standing(session, items)
    ours = [item for item in items if item.id in standing]
    wanted = {
        item.id: _outcome(item, outcomes.get(item.id) if standing[item.id] else RUN_ENDED)
        for item in ours
    }
    _lock_ending(session, ours, wanted)
    _lock_people(session, ours, wanted)
    results = _apply(session, ours, wanted, at)
    mails = _queue(session, ours, wanted, at)
    plan = Plan()
    for item in ours:
        advancing.plan(plan, item, wanted[item.id], results.get(item.id), mails.get(item.id), at)
    return _write(session, plan, ours, at)


def _standing(session: Session, items: Sequence[StepItem]) -> Mapping[int, bool]:
    """Return the step runs that are still ours, and whether their run still runs.

    No lock: every write below is guarded again, and `Overtaken` says when the guard found less.
    """
    attempts = {item.id: item.attempt for item in items}
    found = _STANDING.run(session, ids=many(session, attempts))
    return {
        step_id: status == RUNNING
        for step_id, attempt, status in found
        if attempts[step_id] == attempt
    }


def _prepare_standing(dialect: str) -> Executable:
    step, run = table_of(AutomationStepRun).c, table_of(AutomationRun).c
    return (
        select(step.id, step.attempt, run.status)
        .join_from(step.id.table, run.id.table, run.id == step.automation_run_id)
        .where(
            among_bound(dialect, step.id),
            run_lifecycle.STEP_RUNS.at(EXECUTING),
            # Who parked a lapsed step took its claim back: it is nobody's until the resume.
            step.held_at.is_(None),
        )
    )


_STANDING: Final = Prepared(_prepare_standing)


def _outcome(item: StepItem, outcome: Outcome | None) -> Outcome:
    if isinstance(outcome, _OUTCOMES):
        return outcome
    return Failed(NO_OUTCOME, f"{item.step.type} step: answered nothing")


def _final(item: StepItem, outcome: Outcome) -> bool:
    """Return whether this outcome ends its run as failed."""
    if isinstance(outcome, Failed):
        return outcome is not RUN_ENDED and item.tries >= MAX_EXECUTIONS
    # A change of a person may still be refused, which is a failure of the step.
    return _changes(outcome) and item.tries >= MAX_EXECUTIONS


def _lock_ending(
    session: Session, items: Sequence[StepItem], wanted: Mapping[int, Outcome]
) -> None:
    """Lock the automations whose breaker will count; a success alone locks only a count above 0."""
    failing = {item.automation_id for item in items if _final(item, wanted[item.id])}
    ending = {
        item.automation_id
        for item in items
        if isinstance(wanted[item.id], Completed) and item.graph.may_end[item.step.index]
    }
    if not failing and not ending:
        return
    row = Automation
    counted = or_(row.id.in_(failing), row.consecutive_run_failures > 0)
    session.execute(
        select(row.id)
        .where(row.id.in_(failing | ending), counted)
        .order_by(row.id)
        .with_for_update(key_share=True)
    ).all()


def _lock_people(
    session: Session, items: Sequence[StepItem], wanted: Mapping[int, Outcome]
) -> None:
    """Lock everybody at once where some people are changed and others are written to.

    Each of the two locks its own in the order of ids; one after the other they might meet another
    batch crosswise.
    """
    done = [(item, wanted[item.id]) for item in items]
    changed = {item.visit.contact_id for item, outcome in done if _changes(outcome)}
    written = {
        item.visit.contact_id
        for item, outcome in done
        if isinstance(outcome, Completed) and outcome.send is not None
    }
    if changed and written:
        row = Contact
        query = select(row.id).where(among(session, row.id, changed | written)).order_by(row.id)
        session.execute(query.with_for_update(key_share=True)).all()


def _changes(outcome: Outcome) -> bool:
    if not isinstance(outcome, Completed):
        return False
    return outcome.patch is not None or outcome.membership is not None


def _apply(
    session: Session, items: Sequence[StepItem], wanted: dict[int, Outcome], at: datetime
) -> Mapping[int, Mapping[str, object]]:
    """Make the changes of people that outcomes ask for; a refused one becomes a failure."""
    changes = [
        applying.Change(
            item.id, item.workspace_id, item.visit.contact_id, outcome.patch, outcome.membership
        )
        for item in items
        if isinstance(outcome := wanted[item.id], Completed)
        and (outcome.patch is not None or outcome.membership is not None)
    ]
    if not changes:
        return {}
    applied = applying.apply(session, changes, at)
    wanted.update(applied.failed)
    return applied.results


def _queue(
    session: Session, items: Sequence[StepItem], wanted: Mapping[int, Outcome], at: datetime
) -> Mapping[int, Queued | Withheld]:
    """Queue the mails of completed steps; answer by step run, refusals of the guards included."""
    sends = {
        item.id: outcome.send
        for item in items
        if isinstance(outcome := wanted[item.id], Completed) and outcome.send is not None
    }
    if not sends:
        return {}
    answered = delivery.request_many(session, list(sends.values()), at)
    return {step_run_id: answered[send.dedupe_key] for step_run_id, send in sends.items()}


def _write(session: Session, plan: Plan, items: Sequence[StepItem], at: datetime) -> Sequence[int]:
    moves = (
        (COMPLETED, run_lifecycle.settle_steps(session, COMPLETED, plan.completed, at)),
        (SKIPPED, run_lifecycle.settle_steps(session, SKIPPED, plan.passed, at)),
        (FAILED, run_lifecycle.settle_steps(session, FAILED, plan.failed, at)),
        (PENDING, run_lifecycle.put_off(session, plan.deferred)),
        (None, run_lifecycle.back_off(session, plan.retried)),
    )
    if sum(len(landed) for _, landed in moves) < len(items):
        raise Overtaken
    keys = {item.id: (item.workspace_id, item.automation_id, item.step.key) for item in items}
    for to, landed in moves:
        if to is not None:
            counters.count_steps(session, (keys[row_id] for row_id in landed), to, EXECUTING)
    counters.count_steps(session, (keys[row["id"]] for row in plan.passed), counters.PASSED)
    gone = [row["id"] for row in plan.failed if row["error_code"] in run_lifecycle.DEPARTURES]
    counters.count_steps(session, (keys[row_id] for row_id in gone), counters.DEPARTED)
    # Whose run ended since our look must not be put off: the end has passed this visit by.
    if run_records.note_waits(session, plan.deferred) < len(plan.deferred):
        raise Overtaken
    again = (*plan.retried, *plan.deferred)
    hint_steps(session, [(row["id"], row["due_at"]) for row in again], at)
    due, ended = advancing.advance(session, plan, at)
    note_used(session, plan.used, at)
    _tell_breaker(session, items, ended, at)
    return due


def _tell_breaker(
    session: Session, items: Sequence[StepItem], ended: Mapping[int, str], at: datetime
) -> None:
    """Count failed and completed runs in the order of the batch (facts 1.10)."""
    failures: Counter[int] = Counter()
    successes: set[int] = set()
    for item in items:
        reason, owner = ended.get(item.run_id), item.automation_id
        if reason == run_lifecycle.STEP_FAILED:
            if owner in successes:
                _record(session, {}, {owner}, at)
                successes.discard(owner)
            failures[owner] += 1
        elif reason == run_lifecycle.FINISHED:
            if failures.pop(owner, 0) >= lifecycle.BREAKER_THRESHOLD:
                _record(session, {owner: lifecycle.BREAKER_THRESHOLD}, (), at)
            successes.add(owner)
    _record(session, failures, successes, at)


def _record(
    session: Session, failures: Mapping[int, int], successes: Collection[int], at: datetime
) -> None:
    lifecycle.record_successes(session, successes, at)
    lifecycle.record_failures(session, failures, at)
