"""Reads of acts on many runs: how far one is, and what became of each run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations.models import AutomationRun, RunJob, RunJobItem
from engine.automations.models.jobs import HALTED
from engine.core.db import JsonObject, next_cursor, older

# The number of no run: what is noted under it is about the job itself.
ITSELF: Final = 0


@dataclass(frozen=True)
class JobRow:
    """One job. total: runs it found when it was asked for; done, refused: so far.

    fault: why it ended by itself before its end, as a code.
    """

    row_id: int
    public_id: str
    action: str
    step_key: str | None
    reason: str | None
    wanted: JsonObject
    status: str
    total: int
    done: int
    refused: int
    created_by: str
    created_at: datetime
    finished_at: datetime | None
    fault: str | None = None


@dataclass(frozen=True)
class ItemRow:
    """What became of one run. run_id, person: None where retention took the run since."""

    run_id: str | None
    person: str | None
    outcome: str
    reason: str | None
    at: datetime


def get_job(session: Session, workspace_id: int, public_id: str) -> JobRow | None:
    """Return one job, or None when unknown or foreign."""
    row = RunJob
    found = session.scalar(
        select(row)
        .where(row.workspace_id == workspace_id, row.public_id == public_id)
        .execution_options(populate_existing=True)
    )
    if found is None:
        return None
    if found.status != HALTED:
        return _job(found)
    item = RunJobItem
    fault = session.scalar(
        select(item.reason).where(
            item.workspace_id == workspace_id, item.job_id == found.id, item.run_id == ITSELF
        )
    )
    return replace(_job(found), fault=fault)


def page_jobs(session: Session, workspace_id: int, limit: int = 20) -> Sequence[JobRow]:
    """Return the newest jobs, the newest first."""
    row = RunJob
    query = select(row).where(row.workspace_id == workspace_id).order_by(row.id.desc())
    return [_job(found) for found in session.scalars(query.limit(limit))]


def page_items(
    session: Session,
    workspace_id: int,
    job_row_id: int,
    outcome: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> tuple[Sequence[ItemRow], str | None]:
    """Return a page of what became of runs, the newest run first, and the next cursor."""
    item, run, person = RunJobItem, AutomationRun, Contact
    query = (
        select(
            item.run_id,
            run.public_id,
            person.email,
            person.first_name,
            person.last_name,
            person.external_id,
            item.outcome,
            item.reason,
            item.at,
        )
        .outerjoin(run, (run.id == item.run_id) & (run.workspace_id == item.workspace_id))
        .outerjoin(person, person.id == run.contact_id)
        .where(
            item.workspace_id == workspace_id,
            item.job_id == job_row_id,
            item.run_id != ITSELF,
            older(item.run_id, after),
        )
    )
    if outcome:
        query = query.where(item.outcome == outcome)
    found = session.execute(query.order_by(item.run_id.desc()).limit(limit + 1)).all()
    rows = [_item(row) for row in found[:limit]]
    return rows, next_cursor([row.run_id for row in found], limit)


def _job(row: RunJob) -> JobRow:
    return JobRow(
        row_id=row.id,
        public_id=row.public_id,
        action=row.action,
        step_key=row.step_key,
        reason=row.reason,
        wanted=row.wanted,
        status=row.status,
        total=row.total,
        done=row.done,
        refused=row.refused,
        created_by=row.created_by,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )


def _item(row: Any) -> ItemRow:
    name = " ".join(part for part in (row.first_name, row.last_name) if part)
    person = name or row.email or row.external_id
    return ItemRow(row.public_id, person, row.outcome, row.reason, row.at)
