"""Acts on many runs by API: counted first, asked for by filter, followed, stopped."""

from datetime import datetime

from engine.automations.act_judging import CANCEL, DISMISS, MOVE, RETRY, SKIP, RunAct
from engine.automations.models import RUN_STATUSES
from engine.automations.models.jobs import DONE, REFUSED
from engine.automations.queries import RunFilter, jobs
from engine.automations.queries.jobs import JobRow
from engine.automations.service import bulk
from engine.core.outcome import Refused, invalid, missing
from web.api.door import Answer, Call, Result
from web.api.fields import (
    ById,
    In,
    Instant,
    Out,
    Page,
    PageQuery,
    PublicId,
    ShortText,
    example,
    one_of,
    shown,
)
from web.api.run_acts import StepKey
from web.api.runs import area

UNKNOWN = missing("run_job_not_found")


class RunFilterIn(In):
    """Which runs, as the list of runs has it; without anything: all.

    attention: those that wait for somebody to look at a failed step; step and error are then the
    key of that step and the code of its error.
    """

    automation: PublicId | None = None
    contact: PublicId | None = None
    status: one_of(*RUN_STATUSES) | None = None  # type: ignore[valid-type]
    step: StepKey | None = None
    since: Instant | None = None
    until: Instant | None = None
    q: ShortText | None = None
    error: ShortText | None = None
    attention: bool = False


class BulkAsk(In):
    """An act on every run that the filter finds. step: where to move; dry_run: count only."""

    model_config = example(filter={"attention": True}, action="dismiss", dry_run=True)

    filter: RunFilterIn
    action: one_of(RETRY, SKIP, MOVE, CANCEL, DISMISS)  # type: ignore[valid-type]
    step: StepKey | None = None
    reason: ShortText | None = None
    dry_run: bool = False


class CountOut(Out):
    """How many runs the act would be judged for; capped: there are more."""

    count: int
    capped: bool


class JobOut(Out):
    """A job. total: runs found when it was asked for; done and refused: so far.

    fault: a code where the job ended by itself before its end, else null.
    """

    id: str
    action: str
    step: str | None
    reason: str | None
    filter: RunFilterIn
    status: str
    total: int
    done: int
    refused: int
    created_at: datetime
    finished_at: datetime | None
    fault: str | None


class ItemQuery(PageQuery):
    """Which items: those done, or those refused."""

    outcome: one_of(DONE, REFUSED) | None = None  # type: ignore[valid-type]


class ItemOut(Out):
    """What became of one run. run_id: null once the run has been forgotten."""

    run_id: str | None
    outcome: str
    reason: str | None
    at: datetime


@area.post("/runs/bulk", "runs:act", {200: CountOut, 202: JobOut})
def act_on_runs(call: Call, body: BulkAsk) -> Result:
    """Do the same to every run that a filter finds, each judged by itself when its turn comes.

    With dry_run nothing is done but counting, up to 10,000.
    """
    if body.action == MOVE and body.step is None:
        return invalid("step_needed", "/step")
    wanted = RunFilter(**dict(body.filter))
    if body.dry_run:
        counted = bulk.count(call.session, call.workspace_id, wanted)
        return Answer(CountOut(count=counted.number, capped=counted.capped))
    act = RunAct(body.action, body.step if body.action == MOVE else None, body.reason)
    asked = bulk.ask(call.session, call.workspace_id, wanted, act, call.actor, call.at)
    return asked if isinstance(asked, Refused) else _answer(call, asked.job_id, 202)


@area.get("/runs/bulk/<id>", "runs:read", JobOut)
def get_run_job(call: Call, path: ById) -> Result:
    """Read how far a job is."""
    return _answer(call, path.id)


@area.get("/runs/bulk/<id>/items", "runs:read", Page[ItemOut])
def list_run_job_items(call: Call, path: ById, query: ItemQuery) -> Result:
    """List what became of each run so far, the newest run first."""
    found = jobs.get_job(call.session, call.workspace_id, path.id)
    if found is None:
        return UNKNOWN
    rows, following = jobs.page_items(
        call.session,
        call.workspace_id,
        found.row_id,
        query.outcome,
        query.cursor,
        query.limit,
    )
    items = [ItemOut.model_validate(row) for row in rows]
    return Answer(Page[ItemOut](items=items, next=following))


@area.post("/runs/bulk/<id>/stop", "runs:act", {200: JobOut})
def stop_run_job(call: Call, path: ById) -> Result:
    """Leave the runs alone that the job has not come to; what was done stays done."""
    done = bulk.stop(call.session, call.workspace_id, path.id, call.actor, call.at)
    return done if isinstance(done, Refused) else _answer(call, path.id)


def _answer(call: Call, job_id: str, status: int = 200) -> Result:
    found = jobs.get_job(call.session, call.workspace_id, job_id)
    return UNKNOWN if found is None else Answer(_job(found), status)


def _job(row: JobRow) -> JobOut:
    wanted = RunFilterIn.model_validate(row.wanted)
    return JobOut(**shown(row, JobOut, "step", "filter"), step=row.step_key, filter=wanted)
