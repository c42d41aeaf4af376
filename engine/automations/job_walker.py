"""Works off acts on many runs: so many runs a transaction, from the newest to the oldest.

Where a job is stands in its row, written in the transaction of the acts: a worker that is lost
leaves no run half done and none done twice.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from engine.automations import job_lifecycle
from engine.automations.act_judging import RunAct
from engine.automations.effects import WorkRunJobs
from engine.automations.job_lifecycle import LEASE, RUN_JOBS
from engine.automations.models import RunJob, RunJobItem
from engine.automations.models.jobs import DONE, REFUSED, WORKING
from engine.automations.queries.run_filters import page_ids
from engine.automations.queries.run_rows import read_filter
from engine.automations.service import acting
from engine.core import clock, effects
from engine.core.audit import Actor
from engine.core.ids import read_cursor, write_cursor
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork

# Runs a transaction.
PAGE: Final = 200
# How long one hint keeps a worker; then the others have their turn.
BUDGET: Final = timedelta(seconds=20)


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
        while True:
            with self._uow.begin() as session:
                more = self._do_page(session, claimed)
            if not more:
                return True
            if end is not None and time.monotonic() >= end:
                with self._uow.begin() as session:
                    job_lifecycle.go_on(session, claimed, {"lease_until": None}, clock.now())
                return False

    def _do_page(self, session: Session, claimed: tuple[int, int]) -> bool:
        """Act on the next runs and note how far the job is; return whether there are more."""
        job = self._locked(session, claimed)
        if job is None:
            return False
        at = clock.now()
        behind = write_cursor(job.first_run_id + 1 if job.cursor is None else job.cursor)
        wanted = read_filter(job.wanted)
        ids, following = page_ids(session, job.workspace_id, wanted, behind, self._page)
        act = RunAct(job.action, job.step_key, job.reason)
        answers = acting.act_many(session, job.workspace_id, ids, act, Actor(job.created_by), at)
        refused = {
            run_id: answer.reason
            for run_id, answer in answers.items()
            if isinstance(answer, Refused)
        }
        items = [
            {
                "workspace_id": job.workspace_id,
                "job_id": job.id,
                "run_id": run_id,
                "outcome": REFUSED if run_id in refused else DONE,
                "reason": refused.get(run_id),
                "at": at,
            }
            for run_id in ids
        ]
        if items:
            session.execute(insert(RunJobItem), items)
        columns = {
            "cursor": _row_id(following) if following else job.cursor,
            "done": job.done + len(ids) - len(refused),
            "refused": job.refused + len(refused),
        }
        if following is None:
            job_lifecycle.finish(session, claimed, columns, at)
            return False
        return job_lifecycle.go_on(session, claimed, columns, at + LEASE)

    def _locked(self, session: Session, claimed: tuple[int, int]) -> RunJob | None:
        """Return the job if it is still ours and under way; a stop waits for our page."""
        row_id, attempt = claimed
        return session.scalar(
            select(RunJob)
            .where(RunJob.id == row_id, RunJob.attempt == attempt, RUN_JOBS.is_(WORKING))
            .with_for_update(key_share=True)
            .execution_options(populate_existing=True)
        )


def _row_id(cursor: str) -> int:
    place = read_cursor(cursor, 1)
    if place is None:
        raise ValueError(cursor)
    return int(place[0])
