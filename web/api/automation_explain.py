"""Why, or why not, by API: what kept a person out of an automation, or let them in."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from engine.audience import queries as audience
from engine.automations.queries.explaining import Explanation, explain
from engine.core.outcome import missing
from web.api.automations import area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, Out, PublicId, Query, shown


class ExplainQuery(Query):
    """Whom it is about."""

    contact_id: PublicId


class ExplainedCheck(Out):
    """One thing that is asked before somebody enters. verdict: passes, bars or informs."""

    name: str
    verdict: str
    code: str
    params: dict[str, str | int]


class ExplainedRun(Out):
    """A run of this person in this automation."""

    id: str
    status: str
    ended_reason: str | None
    started_at: datetime
    completed_at: datetime | None


class ExplainedEvent(Out):
    """The newest event of the person that the trigger matches."""

    id: str
    kind: str
    name: str | None
    source: str
    occurred_at: datetime
    recorded_at: datetime


class ExplainedDecision(Out):
    """A refusal as it was recorded. version: of the activation that refused."""

    reason: str
    details: dict[str, str | int]
    version: int
    decided_at: datetime


class ExplanationOut(Out):
    """Why a person is in an automation or not.

    answer: inside, entered, a recorded reason, the code of the first check that bars, or
    not_recorded; recorded: whether it was noted at the time, else it is judged as of now.
    """

    contact_id: str
    automation_id: str
    status: str
    deleted: bool
    answer: str
    params: dict[str, str | int]
    recorded: bool
    inside: Annotated[str | None, Field(description="the run that is under way")]
    runs: list[ExplainedRun]
    event: ExplainedEvent | None
    decisions: list[ExplainedDecision]
    checks: list[ExplainedCheck]


@area.get("/automations/<id>/explain", "automations:read", ExplanationOut)
def explain_automation(call: Call, path: ById, query: ExplainQuery) -> Result:
    """Say why a person entered the automation, or what kept them out; deleted ones are readable."""
    if audience.get_contact(call.session, call.workspace_id, query.contact_id) is None:
        return missing("contact_not_found")
    found = explain(call.session, call.workspace_id, path.id, query.contact_id, call.at)
    return missing("automation_not_found") if found is None else Answer(_shown(found))


def _shown(found: Explanation) -> ExplanationOut:
    return ExplanationOut(
        contact_id=found.contact_id,
        automation_id=found.automation_id,
        status=found.status,
        deleted=found.deleted,
        answer=found.answer,
        params=dict(found.params),
        recorded=found.recorded,
        inside=found.inside,
        runs=[ExplainedRun(**shown(run, ExplainedRun)) for run in found.past],
        event=ExplainedEvent(**shown(found.event, ExplainedEvent)) if found.event else None,
        decisions=[
            ExplainedDecision(details=each.told, **_same(each, ExplainedDecision, "details"))
            for each in found.decisions
        ],
        checks=[
            ExplainedCheck(params=dict(check.params), **_same(check, ExplainedCheck, "params"))
            for check in found.checks
        ],
    )


def _same(row: object, model: type[Out], apart: str) -> dict[str, Any]:
    """Return the fields of `model` that a row answers under the same names."""
    return {name: getattr(row, name) for name in model.model_fields.keys() - {apart}}
