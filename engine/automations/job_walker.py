"""Works off acts on many runs: so many runs a transaction, from the newest to the oldest.

Where a job is stands in its row, written in the transaction of the acts: a worker that is lost
leaves no run half done and none done twice. A page that raises is gone through run by run: the one
that raises again is left out and said so; where not even that can be done the job ends.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from engine.automations import job_lifecycle
from engine.automations.act_judging import RunAct
from engine.automations.effects import WorkRunJobs
from engine.automations.job_lifecycle import LEASE, RUN_JOBS
from engine.automations.models import RunJob, RunJobItem
from engine.automations.models.jobs import DONE, REFUSED, WORKING
from engine.automations.queries.jobs import ITSELF
from engine.automations.queries.run_filters import page_ids
from engine.automations.queries.run_rows import read_filter
from engine.automations.service import acting
from engine.core import clock, effects
from engine.core.audit import Actor
from engine.core.ids import read_cursor, write_cursor
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from engine.core.walking import run_isolated

# Runs a transaction.
PAGE: Final = 200
# How long one hint keeps a worker; then the others have their turn.
BUDGET: Final = timedelta(seconds=20)
# Why a run was left out, and why a job ended: something raised that nobody expected.
RUN_RAISED: Final = "act_raised"
JOB_RAISED: Final = "job_raised"
_Answers = Mapping[int, object]
_Act = Callable[[Session, RunJob, Sequence[int], datetime], _Answers]


@dataclass(frozen=True)
class _Try:
    """A try at a page of a job, for the guard that isolates what raises. id: of the job."""

    id: int
    lease_until: datetime


class JobWalker:
    """Goes on with jobs that are due."""

    def __init__(self, uow: UnitOfWork, page: int = PAGE) -> None:
        self._uow = uow
        self._page = page

    def walk(self, ids: Sequence[int], budget: timedelta = BUDGET) -> None:
        """Go on with the jobs that a hint named; what the budget leaves over is hinted again."""
        end = time.monotonic() + budget.total_seconds()
        while time.monotonic() < end:
            if (claimed := self._claim(ids)) is None:
                return
            if not self._work(claimed, end):
                effects.hand_over([WorkRunJobs((claimed[0],))])

    def sweep(self) -> Mapping[str, int]:
        """Go on with whatever is due until nothing is."""
        worked = 0
        while (claimed := self._claim(None)) is not None:
            self._work(claimed, None)
            worked += 1
        return {"worked": worked}

    def _claim(self, ids: Sequence[int] | None) -> tuple[int, int] | None:
        with self._uow.begin() as session:
            return job_lifecycle.take(session, ids, clock.now())

    def _work(self, claimed: tuple[int, int], end: float | None) -> bool:
        """Do page after page; return whether nothing of the job is left to do for us."""
        alone = 0
        while True:
            more = self._tried(claimed, _act, 1 if alone else self._page)
            if more is None and not alone:
                alone = self._page
                continue
            if more is None:
                more = self._tried(claimed, _leave_out, 1)
            if more is None:
                self._give_up(claimed)
            if not more:
                return True
            alone = max(alone - 1, 0)
            if end is not None and time.monotonic() >= end:
                with self._uow.begin() as session:
                    job_lifecycle.go_on(session, claimed, {"lease_until": None}, clock.now())
                return False

    def _tried(self, claimed: tuple[int, int], act: _Act, size: int) -> bool | None:
        """Do a page; return whether there are more, None where it raised and nothing was done."""

        def run(_tries: Sequence[_Try]) -> dict[int, bool | None]:
            with self._uow.begin() as session:
                return {claimed[0]: self._do_page(session, claimed, act, size)}

        tries = [_Try(claimed[0], clock.now() + LEASE)]
        return run_isolated(tries, run, lambda _try, _error: None)[claimed[0]]

    def _do_page(self, session: Session, claimed: tuple[int, int], act: _Act, size: int) -> bool:
        """Act on the next runs and note how far the job is; return whether there are more."""
        job = self._locked(session, claimed)
        if job is None:
            return False
        at = clock.now()
        behind = write_cursor(job.first_run_id + 1 if job.cursor is None else job.cursor)
        ids, following = page_ids(session, job.workspace_id, read_filter(job.wanted), behind, size)
        answers = act(session, job, ids, at)
        refused = {
            run_id: answer.reason
            for run_id, answer in answers.items()
            if isinstance(answer, Refused)
        }
        _note(session, job, {run_id: refused.get(run_id) for run_id in ids}, at)
        columns = {
            "cursor": _row_id(following) if following else job.cursor,
            "done": job.done + len(ids) - len(refused),
            "refused": job.refused + len(refused),
        }
        if following is None:
            job_lifecycle.finish(session, claimed, columns, at)
            return False
        return job_lifecycle.go_on(session, claimed, columns, at + LEASE)

    def _give_up(self, claimed: tuple[int, int]) -> None:
        """End a job that raises wherever it is tried; where even that raises, its lease ends."""
        with self._uow.begin() as session:
            job, at = self._locked(session, claimed), clock.now()
            if job is not None and job_lifecycle.give_up(session, claimed, at):
                _note(session, job, {ITSELF: JOB_RAISED}, at)

    def _locked(self, session: Session, claimed: tuple[int, int]) -> RunJob | None:
        """Return the job if it is still ours and under way; a stop waits for our page."""
        row_id, attempt = claimed
        return session.scalar(
            select(RunJob)
            .where(RunJob.id == row_id, RunJob.attempt == attempt, RUN_JOBS.is_(WORKING))
            .with_for_update(key_share=True)
            .execution_options(populate_existing=True)
        )


def _act(session: Session, job: RunJob, ids: Sequence[int], at: datetime) -> _Answers:
    act = RunAct(job.action, job.step_key, job.reason)
    return acting.act_many(session, job.workspace_id, ids, act, Actor(job.created_by), at)


def _leave_out(_session: Session, _job: RunJob, ids: Sequence[int], _at: datetime) -> _Answers:
    return {run_id: Refused(RUN_RAISED) for run_id in ids}


def _note(session: Session, job: RunJob, reasons: Mapping[int, str | None], at: datetime) -> None:
    """Write down what became of runs. reasons: why one was left as it is, None where it was not."""
    items = [
        {
            "workspace_id": job.workspace_id,
            "job_id": job.id,
            "run_id": run_id,
            "outcome": DONE if reason is None else REFUSED,
            "reason": reason,
            "at": at,
        }
        for run_id, reason in reasons.items()
    ]
    if items:
        session.execute(insert(RunJobItem), items)


def _row_id(cursor: str) -> int:
    place = read_cursor(cursor, 1)
    if place is None:
        raise ValueError(cursor)
    return int(place[0])
