"""An act on every run that a filter finds: counted first, then asked for, worked off, stopped."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations import job_lifecycle
from engine.automations.act_judging import RunAct
from engine.automations.effects import WorkRunJobs
from engine.automations.models import AutomationRun, RunJob
from engine.automations.models.jobs import HALTED, WORKING
from engine.automations.queries.run_filters import conditions
from engine.automations.queries.run_rows import RunFilter, write_filter
from engine.core import audit
from engine.core.audit import Actor, Scalar
from engine.core.effects import emit
from engine.core.ids import new_public_id
from engine.core.machine import born
from engine.core.outcome import Recorded, Refused, Transitioned, missing

RESOURCE: Final = "run_job"
ASKED: Final = "run_job.asked"
STOPPED: Final = "run_job.stopped"
# More at once is a mistake, or work for several nights.
MOST: Final = 100_000
# A dialog counts no further.
MOST_COUNTED: Final = 10_000


@dataclass(frozen=True)
class Counted:
    """How many runs a filter finds; capped: there are more."""

    number: int
    capped: bool


@dataclass(frozen=True)
class Asked:
    """A job that was asked for. total: how many runs it found."""

    job_id: str
    total: int


def count(
    session: Session, workspace_id: int, wanted: RunFilter, most: int = MOST_COUNTED
) -> Counted:
    """Return how many runs an act would be judged for; nothing is written."""
    found = _found(session, workspace_id, wanted, most)
    return Counted(min(found, most), found > most)


def ask(
    session: Session,
    workspace_id: int,
    wanted: RunFilter,
    action: RunAct,
    actor: Actor,
    at: datetime,
) -> Asked | Refused:
    """Ask for an act on every run that the filter finds now; who enters later is left alone.

    Refused: nothing_matches, too_many (more than MOST). Each run is judged when its turn comes.
    """
    total = _found(session, workspace_id, wanted, MOST)
    if total == 0:
        return Refused("nothing_matches")
    if total > MOST:
        return Refused("too_many", params={"limit": MOST})
    run = AutomationRun
    newest = session.scalar(select(func.max(run.id)).where(run.workspace_id == workspace_id))
    job = RunJob(
        workspace_id=workspace_id,
        public_id=new_public_id(),
        action=action.action,
        step_key=action.step,
        reason=action.reason,
        wanted=write_filter(wanted),
        first_run_id=newest or 0,
        total=total,
        due_at=at,
        created_by=actor.name,
        created_at=at,
        **born(job_lifecycle.RUN_JOBS, WORKING),
    )
    session.add(job)
    session.flush()
    emit(session, WorkRunJobs((job.id,)))
    told: dict[str, Scalar] = {
        "action": action.action,
        "total": total,
        "step": action.step,
        "reason": action.reason,
    }
    details = {name: value for name, value in told.items() if value is not None}
    subject = audit.Subject(workspace_id, RESOURCE, job.public_id)
    audit.record(session, subject, ASKED, actor, at, details)
    return Asked(job.public_id, total)


def stop(
    session: Session, workspace_id: int, job_id: str, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Leave the runs alone that the job has not come to; what was done stays done."""
    row = RunJob
    found = session.execute(
        select(row.id, row.status).where(row.workspace_id == workspace_id, row.public_id == job_id)
    ).first()
    if found is None:
        return missing("run_job_not_found")
    if job_lifecycle.stop(session, workspace_id, found.id, at):
        subject = audit.Subject(workspace_id, RESOURCE, job_id)
        audit.record(session, subject, STOPPED, actor, at)
        return Transitioned(WORKING, HALTED)
    return Recorded(HALTED) if found.status == HALTED else Refused("job_is_done")


def _found(session: Session, workspace_id: int, wanted: RunFilter, most: int) -> int:
    """Return how many runs match, no further than one beyond `most`."""
    where = conditions(session, workspace_id, wanted)
    some = select(AutomationRun.id).where(*where).limit(most + 1).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0
