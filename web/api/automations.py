"""Automations by API: the draft document, the status, publishing."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from engine.automations import checking, queries, service
from engine.automations.document import read_document
from engine.automations.models import AUTOMATION_STATUSES
from engine.automations.queries import AutomationDetail, AutomationRow
from engine.automations.service import Wish
from engine.core.outcome import Problem, Recorded, Refused, missing
from web.api.answers import IF_MATCH_REQUIRED
from web.api.area import Area
from web.api.automation_differences import too_late
from web.api.automation_pauses import LastError, standstill
from web.api.documents import AutomationDocument
from web.api.door import Answer, Call, Result
from web.api.fields import ById, In, Out, Page, PageQuery, example, one_of, shown
from web.api.problems import Fault, faults
from web.automations.messages import PROBLEMS, REASONS
from web.people.messages import WORDS

area: Final = Area(
    "automations", "A draft document, a status, frozen revisions.", REASONS, PROBLEMS, WORDS
)
UNKNOWN: Final = missing("automation_not_found")
# An If-Match that no draft can have: it is refused like any other that is not the newest.
_NO_VERSION: Final = -1


class AutomationQuery(PageQuery):
    """Which automations."""

    status: one_of(*AUTOMATION_STATUSES) | None = None  # type: ignore[valid-type]


class AutomationSummary(Out):
    """An automation in a list. version: activations so far; revision: the one in force."""

    id: str
    name: str
    description: str | None
    status: str
    trigger_type: str
    version: int
    revision: int | None
    activated_at: datetime | None
    first_activated_at: datetime | None
    paused_at: datetime | None
    created_at: datetime
    edited_at: datetime
    updated_at: datetime


class AutomationOut(AutomationSummary):
    """An automation with its draft. steps: with names of what they point to; document: as PUT.

    problems: what an activation of the draft would be refused for; warnings: what may go wrong, but
    forbids nothing. paused_by: the actor, null unless paused; last_errors: of a breaker's pause.
    """

    on_pause: str
    reentry: str | dict[str, Any]
    trigger: dict[str, Any]
    steps: list[dict[str, Any]]
    document: dict[str, Any]
    draft_differs: bool
    problems: list[Fault]
    warnings: list[Fault]
    paused_by: str | None
    last_errors: list[LastError]


class TransitionAsk(In):
    """A status to move to, and how.

    resume: with active, where people were held while paused: `shift` (waits move by the length of
    the pause; the default), `overdue` (what is overdue starts now, sixty people a minute) or `skip`
    (what is overdue is skipped). start_afresh: with active, a new activation. cancel_inside: with
    paused, end everybody inside.
    """

    to: one_of(*AUTOMATION_STATUSES)  # type: ignore[valid-type]
    resume: one_of("shift", "overdue", "skip") | None = None  # type: ignore[valid-type]
    start_afresh: bool = False
    cancel_inside: bool = False

    model_config = example(to="active")


class TransitionOut(AutomationOut):
    """The automation after it. applied: transitioned, or recorded where it was there already.

    people_inside: people with a running run after it; cancelled: how many of them were ended;
    due_now: how many go on at once after a resume.
    """

    applied: str
    people_inside: int
    cancelled: int
    due_now: int


@area.post("/automations", "automations:manage", {201: AutomationOut})
def create_automation(call: Call, body: AutomationDocument) -> Result:
    """Create a draft from a document."""
    made = service.create(call.session, call.workspace_id, body.root, call.actor, call.at)
    return made if isinstance(made, Refused) else read(call, made.public_id, 201)


@area.get("/automations", "automations:read", Page[AutomationSummary])
def list_automations(call: Call, query: AutomationQuery) -> Result:
    """List automations, newest first."""
    rows, following = queries.page_automations(
        call.session, call.workspace_id, query.status, query.cursor, query.limit
    )
    items = [AutomationSummary(**_summary(row)) for row in rows]
    return Answer(Page[AutomationSummary](items=items, next=following))


@area.get("/automations/<id>", "automations:read", AutomationOut)
def get_automation(call: Call, path: ById) -> Result:
    """Read an automation with its draft; the ETag is what PUT asks for as If-Match."""
    return read(call, path.id, 200)


@area.put("/automations/<id>", "automations:manage", {200: AutomationOut}, guarded=True)
def save_automation(call: Call, path: ById, body: AutomationDocument) -> Result:
    """Replace the draft; what runs is not touched until the next activation.

    A 412 shows the draft as it stands and who changed it (`current`), and what the one sent would
    change in it (`differences`). A document that says what the draft says keeps the ETag.
    """
    kept = service.save(
        call.session,
        call.workspace_id,
        path.id,
        body.root,
        version_of(call.etag),
        call.actor,
        call.at,
    )
    if not isinstance(kept, Refused):
        return read(call, path.id, 200)
    if kept.reason != "stale":
        return kept
    if call.etag is None:
        return IF_MATCH_REQUIRED
    seen, sent = service.current(call.session, call.workspace_id, path.id), read_document(body.root)
    if seen is None or isinstance(sent, Refused):
        return UNKNOWN
    return too_late(seen, service.as_document(sent))


@area.delete("/automations/<id>", "automations:manage")
def delete_automation(call: Call, path: ById) -> Result:
    """Delete an automation that is not active; its runs and their log stay readable."""
    gone = service.remove(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


@area.post("/automations/<id>/transitions", "automations:publish", {200: TransitionOut})
def move_automation(call: Call, path: ById, body: TransitionAsk) -> Result:
    """Activate, pause, stop, resume, start afresh, or go back to draft.

    The same status again is `recorded`.
    """
    wish = Wish(body.to, body.resume, body.start_afresh, body.cancel_inside)
    moved = service.change_status(
        call.session, call.workspace_id, path.id, wish, call.actor, call.at
    )
    if isinstance(moved, Refused):
        return moved
    detail = detail_of(call, path.id)
    if detail is None:
        return UNKNOWN
    return Answer(
        TransitionOut(
            **detail,
            applied=applied(new=not isinstance(moved.outcome, Recorded)),
            people_inside=moved.people_inside,
            cancelled=moved.cancelled,
            due_now=moved.due_now,
        )
    )


@area.post("/automations/<id>/duplicate", "automations:manage", {201: AutomationOut})
def duplicate_automation(call: Call, path: ById) -> Result:
    """Make a draft with the same settings and steps; “ (Copy)” stands behind its name."""
    made = service.duplicate(call.session, call.workspace_id, path.id, call.actor, call.at)
    return made if isinstance(made, Refused) else read(call, made.public_id, 201)


def read(call: Call, public_id: str, status: int) -> Result:
    """Return the answer of an automation as its address gives it, with the ETag of its draft."""
    call.session.flush()
    detail = queries.get_automation(call.session, call.workspace_id, public_id)
    if detail is None:
        return UNKNOWN
    tag = f'"{detail.row.etag}"'
    return Answer(AutomationOut(**_detail(call, detail)), status, {"ETag": tag})


def detail_of(call: Call, public_id: str) -> dict[str, Any] | None:
    """Return what an `AutomationOut` shows of an automation; None where it is unknown."""
    call.session.flush()
    detail = queries.get_automation(call.session, call.workspace_id, public_id)
    return None if detail is None else _detail(call, detail)


def applied(*, new: bool) -> str:
    """Return the word for whether something changed or stood there already."""
    return "transitioned" if new else "recorded"


def version_of(etag: str | None) -> int:
    """Return the version of the draft that an ETag names; one that no draft has for no ETag."""
    text = (etag or "").strip().removeprefix("W/").strip('"')
    short = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if short else _NO_VERSION


def _summary(row: AutomationRow) -> dict[str, Any]:
    return shown(row, AutomationSummary)


def _detail(call: Call, found: AutomationDetail) -> dict[str, Any]:
    draft = found.draft
    return {
        **_summary(found.row),
        "name": draft["name"],
        "description": draft.get("description"),
        "on_pause": draft["on_pause"],
        "reentry": draft["reentry"],
        "trigger": draft["trigger"],
        "steps": [_named(step, found.names) for step in draft["steps"]],
        "document": draft,
        "draft_differs": found.draft_differs,
        "problems": faults(found.problems, (PROBLEMS,)),
        "warnings": faults(_warnings(call, found), (PROBLEMS,)),
        **standstill(call.session, call.workspace_id, found.row),
    }


def _warnings(call: Call, found: AutomationDetail) -> Sequence[Problem]:
    document = read_document(found.draft)
    if isinstance(document, Refused):
        return ()
    return checking.warnings(call.session, call.workspace_id, document)


def _named(step: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    return {**step, **names.get(step["key"], {})}
