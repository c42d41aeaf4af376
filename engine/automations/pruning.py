"""Old runs and the runs of people who are to be forgotten; the totals stay in the shards."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, exists, or_, select, true
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    RUNNING,
    AutomationEntry,
    AutomationRun,
    AutomationStepRun,
    RunJob,
    RunJobItem,
    RunMove,
    TriggerDecision,
)
from engine.core.db import among
from engine.core.events import Event
from engine.core.pruning import SLICE, Slice, delete_all, oldest
from engine.delivery.models import EmailSend

# Runs a slice: a long one has some two hundred visits.
RUNS: Final = 100
_FINISHED: Final = (COMPLETED, CANCELLED)


def old_runs(
    session: Session, workspace_id: int, before: datetime, after: int, limit: int = RUNS
) -> Slice:
    """Return runs that ended before `before`; one that still runs stays, however old."""
    row = AutomationRun
    return oldest(
        session,
        row,
        row.workspace_id == workspace_id,
        and_(row.status.in_(_FINISHED), row.completed_at < before),
        row.started_at < before,
        after,
        limit,
    )


def forget_runs(session: Session, run_ids: Sequence[int]) -> int:
    """Delete finished runs with their visits; return how many runs went."""
    row = AutomationRun
    doomed = session.scalars(
        select(row.id)
        .where(among(session, row.id, run_ids), row.status.in_(_FINISHED))
        .order_by(row.id)
    ).all()
    if not doomed:
        return 0
    for visits in (RunMove, AutomationStepRun):
        delete_all(session, visits, among(session, visits.automation_run_id, doomed))
    return delete_all(session, row, among(session, row.id, doomed))


def old_decisions(session: Session, workspace_id: int, before: datetime, after: int) -> Slice:
    """Return decisions of triggers made before `before`."""
    row = TriggerDecision
    old = row.decided_at < before
    return oldest(session, row, row.workspace_id == workspace_id, old, old, after)


def forget_decisions(session: Session, decision_ids: Sequence[int]) -> int:
    """Delete decisions; return how many went."""
    row = TriggerDecision
    return delete_all(session, row, among(session, row.id, decision_ids))


def old_jobs(session: Session, workspace_id: int, before: datetime, after: int) -> Slice:
    """Return acts on many runs that ended before `before`; one under way stays."""
    row = RunJob
    old = row.finished_at < before
    return oldest(
        session, row, row.workspace_id == workspace_id, old, row.created_at < before, after
    )


def forget_jobs(session: Session, job_ids: Sequence[int]) -> int:
    """Delete a bounded part of ended jobs: what became of their runs first; return how many rows.

    The job itself goes once nothing of it is left.
    """
    item, job = RunJobItem, RunJob
    some = session.execute(
        select(item.job_id, item.run_id)
        .where(among(session, item.job_id, job_ids))
        .order_by(item.job_id, item.run_id)
        .limit(SLICE)
    ).all()
    if not some:
        ended = and_(among(session, job.id, job_ids), job.finished_at.is_not(None))
        return delete_all(session, job, ended)
    of_job = some[0].job_id
    runs = [row.run_id for row in some if row.job_id == of_job]
    return delete_all(session, item, and_(item.job_id == of_job, among(session, item.run_id, runs)))


def event_in_use(doomed_before: datetime | None = None) -> ColumnElement[bool]:
    """Return the predicate "a run that is kept was started by this row of events".

    doomed_before: look past runs that ended before it, because they are to go first.
    """
    row = AutomationRun
    return exists().where(
        _kept(doomed_before),
        row.workspace_id == Event.workspace_id,
        row.contact_id == Event.contact_id,
        row.event_id == Event.id,
    )


def send_in_use(doomed_before: datetime | None = None) -> ColumnElement[bool]:
    """Return the predicate "a visit of a run that is kept asked for this row of email_sends".

    doomed_before: see `event_in_use`.
    """
    row, visit = AutomationRun, AutomationStepRun
    return exists().where(
        _kept(doomed_before),
        row.workspace_id == EmailSend.workspace_id,
        row.contact_id == EmailSend.contact_id,
        visit.automation_run_id == row.id,
        visit.email_send_id == EmailSend.id,
    )


def _kept(doomed_before: datetime | None) -> ColumnElement[bool]:
    row = AutomationRun
    if doomed_before is None:
        return true()
    return or_(row.completed_at.is_(None), row.completed_at >= doomed_before)


def person_in_use() -> ColumnElement[bool]:
    """Return the predicate "this row of contacts has a run under way"."""
    row = AutomationRun
    return exists().where(
        row.workspace_id == Contact.workspace_id,
        row.contact_id == Contact.id,
        row.status == RUNNING,
    )


def forget_people(session: Session, workspace_id: int, contact_ids: Sequence[int]) -> int:
    """Delete a bounded part of what these people went through; return how many rows went."""
    row, entry = AutomationRun, AutomationEntry
    runs = session.scalars(
        select(row.id)
        .where(
            row.workspace_id == workspace_id,
            among(session, row.contact_id, contact_ids),
            row.status.in_(_FINISHED),
        )
        .order_by(row.id)
        .limit(RUNS)
    ).all()
    if runs:
        return forget_runs(session, runs)
    decision = TriggerDecision
    decisions = session.scalars(
        select(decision.id)
        .where(
            decision.workspace_id == workspace_id,
            among(session, decision.contact_id, contact_ids),
        )
        .order_by(decision.id)
        .limit(SLICE)
    ).all()
    if decisions:
        return forget_decisions(session, decisions)
    theirs = among(session, entry.contact_id, contact_ids)
    return delete_all(session, entry, and_(entry.workspace_id == workspace_id, theirs))
