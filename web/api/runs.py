"""Runs by API: who is where, and one run with every visit to a step."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from engine.automations import queries
from engine.automations.models import RUN_STATUSES
from engine.automations.queries import RunDetail, RunFilter, StepRunRow
from engine.core.outcome import missing
from engine.delivery import queries as delivery
from web.api.answers import etag
from web.api.area import Area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, Instant, Out, Page, PageQuery, PublicId, ShortText, one_of, shown
from web.automations.messages import REASONS
from web.runs import messages

area: Final = Area("runs", "People on their way through automations.", messages.REASONS, REASONS)


class RunQuery(PageQuery):
    """Which runs. step: the key where a person stands or failed; q: who; since: started then."""

    automation: PublicId | None = None
    contact: PublicId | None = None
    status: one_of(*RUN_STATUSES) | None = None  # type: ignore[valid-type]
    step: Annotated[str, Field(max_length=60)] | None = None
    since: Instant | None = None
    q: ShortText | None = None


class RunOut(Out):
    """A run. step_key, due_at: the visit under way; error: that of the last visit."""

    id: str
    automation_id: str
    automation_name: str
    contact_id: str
    contact_email: str | None
    status: str
    ended_reason: str | None
    revision: int
    triggered_by: str
    trigger_data: dict[str, Any] | None
    event_id: str | None
    current_step_index: int
    steps_executed: int
    started_at: datetime
    completed_at: datetime | None
    step_key: str | None
    step_type: str | None
    due_at: datetime | None
    error_code: str | None
    error_message: str | None


class StepRunOut(Out):
    """One visit to a step. attempt: executions so far; result: what decided.

    revision: number of the one whose step this is; several where publishes moved the run.
    """

    id: str
    revision: int
    step_index: int
    step_key: str
    step_type: str
    status: str
    attempt: int
    scheduled_at: datetime
    delay_until: datetime | None
    due_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    send_id: str | None
    result: dict[str, Any] | None
    failures: list[dict[str, Any]]
    error_code: str | None
    error_message: str | None


class RunMoveOut(Out):
    """A publish took a run along. revision: number of the one in which it went on."""

    revision: int
    at: datetime


class RunDetailOut(RunOut):
    """A run with the frozen document it is pinned to and every visit, oldest first.

    documents: by the number of the revision, of each that a visit went by. entered_with: number of
    the one it began with; moves: the publishes that took it along, the oldest first.
    """

    document: dict[str, Any]
    documents: dict[str, dict[str, Any]]
    entered_with: int
    moves: list[RunMoveOut]
    step_runs: list[StepRunOut]


@area.get("/runs", "runs:read", Page[RunOut])
def list_runs(call: Call, query: RunQuery) -> Result:
    """List runs, newest first."""
    wanted = RunFilter(
        automation=query.automation,
        contact=query.contact,
        status=query.status,
        step=query.step,
        since=query.since,
        q=query.q,
    )
    rows, following = queries.page_runs(
        call.session, call.workspace_id, wanted, query.cursor, query.limit
    )
    items = [RunOut(**shown(row, RunOut)) for row in rows]
    return Answer(Page[RunOut](items=items, next=following))


@area.get("/runs/<id>", "runs:read", RunDetailOut)
def get_run(call: Call, path: ById) -> Result:
    """Read one run with its step runs."""
    found = queries.get_run(call.session, call.workspace_id, path.id)
    return missing("run_not_found") if found is None else etag(Answer(detail(call, found)))


def detail(call: Call, found: RunDetail) -> RunDetailOut:
    """Return a run as its address answers it."""
    row_ids = [step.email_send_row_id for step in found.steps if step.email_send_row_id]
    sends = delivery.sends_by_row_id(call.session, call.workspace_id, row_ids)
    ids = {row_id: send.public_id for row_id, send in sends.items()}
    steps = [_step(step, ids.get(step.email_send_row_id or 0)) for step in found.steps]
    return RunDetailOut(
        **shown(found.run, RunOut),
        document=found.document,
        documents={str(number): document for number, document in found.documents.items()},
        entered_with=found.entered_with,
        moves=[RunMoveOut(revision=move.number, at=move.at) for move in found.moves],
        step_runs=steps,
    )


def _step(row: StepRunRow, send_id: str | None) -> StepRunOut:
    names = StepRunOut.model_fields.keys() - {"send_id"}
    return StepRunOut(**{name: getattr(row, name) for name in names}, send_id=send_id)
