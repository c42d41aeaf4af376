"""Requests by API: ask for an activation or a publish, and decide what others asked for."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from engine.accounts import approval_rows
from engine.accounts.approval_rows import ApprovalRow, Wanted
from engine.accounts.models import APPROVAL_STATUSES
from engine.accounts.permissions import covers
from engine.accounts.service.approvals import LONGEST
from engine.automations import queries
from engine.automations.document import digest
from engine.automations.service import requesting
from engine.automations.service.requesting import ACTIVATE, KINDS, NEEDS, Request
from engine.core.outcome import Recorded, Refused, Transitioned, missing
from web.api.area import Area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, In, Out, Page, PageQuery, PublicId, one_of, shown
from web.approvals.messages import WORDS
from web.automations.messages import PROBLEMS, REASONS

area: Final = Area(
    "requests", "Who may not asks; who may grants or denies.", WORDS, REASONS, PROBLEMS
)
UNKNOWN: Final = missing("approval_not_found")
Words = Annotated[str, Field(max_length=LONGEST)]


class WantedIn(In):
    """With which choices. people_inside: of a publish, whether they stay (the default) or move."""

    people_inside: one_of("stay", "move") | None = None  # type: ignore[valid-type]


class ApprovalAsk(In):
    """What is asked for: `automation.activate` of a draft, `automation.publish` of a live one.

    resource_id: the automation; note: why, for whoever decides.
    """

    kind: one_of(*KINDS)  # type: ignore[valid-type]
    resource_id: PublicId
    wanted: WantedIn = Field(default_factory=WantedIn)
    note: Words | None = None


class AnswerAsk(In):
    """Words to whoever asked; may be left out, and the body with it."""

    may_be_absent: ClassVar[bool] = True

    answer: Words | None = None


class ApprovalOut(Out):
    """A request. asked_by, decided_by: actors (`user:…`, `key:…`), the latter null while pending.

    withdrawn: taken back, or over without a decision, as the automation was deleted, another draft
    was put in force or somebody asked anew.
    """

    id: str
    kind: str
    resource: str
    resource_id: str
    wanted: dict[str, Any]
    note: str | None
    status: str
    answer: str | None
    asked_by: str
    asked_at: datetime
    decided_by: str | None
    decided_at: datetime | None


class ApprovalDetailOut(ApprovalOut):
    """draft_changed: the draft is another one since, so that the request cannot be granted."""

    draft_changed: bool


class DecidedOut(ApprovalDetailOut):
    """The request after it. applied: transitioned, or recorded where it was decided so already."""

    applied: str


class ApprovalQuery(PageQuery):
    """Which requests."""

    status: one_of(*APPROVAL_STATUSES) | None = None  # type: ignore[valid-type]
    resource_id: PublicId | None = None


@area.post("/approvals", "approvals:manage", {201: ApprovalDetailOut})
def ask_for_approval(call: Call, body: ApprovalAsk) -> Result:
    """Ask for an activation or a publish of the draft as it stands now.

    Only that draft can be granted. A second request for it is a 409, `already_asked`; after a
    change of the draft the newer request takes the place of the older one.
    """
    wanted = Request(body.kind, body.wanted.people_inside, body.note)
    asked = requesting.ask_for(
        call.session, call.workspace_id, body.resource_id, wanted, call.actor, call.at
    )
    if isinstance(asked, Refused):
        return asked
    found = _found(call, asked)
    return UNKNOWN if found is None else Answer(ApprovalDetailOut(**_detail(call, found)), 201)


@area.get("/approvals", "approvals:read", Page[ApprovalOut])
def list_approvals(call: Call, query: ApprovalQuery) -> Result:
    """List requests, newest first."""
    rows, following = approval_rows.page_approvals(
        call.session,
        call.workspace_id,
        Wanted(status=query.status, resource_id=query.resource_id),
        query.cursor,
        query.limit,
    )
    items = [ApprovalOut(**shown(row, ApprovalOut)) for row in rows]
    return Answer(Page[ApprovalOut](items=items, next=following))


@area.get("/approvals/<id>", "approvals:read", ApprovalDetailOut)
def get_approval(call: Call, path: ById) -> Result:
    """Read a request."""
    found = _found(call, path.id)
    return UNKNOWN if found is None else Answer(ApprovalDetailOut(**_detail(call, found)))


@area.post("/approvals/<id>/grant", "approvals:act", {200: DecidedOut})
def grant_approval(call: Call, path: ById, body: AnswerAsk) -> Result:
    """Do what was asked for and say yes, in one; the key must hold the scope of the deed too.

    Where the deed is refused, or the draft is another one (`draft_changed`), the request waits on.
    """
    seen = _found(call, path.id)
    if seen is None:
        return UNKNOWN
    needed = NEEDS.get(seen.kind, NEEDS[ACTIVATE])
    if not covers(call.scopes, needed):
        return Refused("wrong_scope", "forbidden", params={"scope": needed})
    done = requesting.grant(
        call.session, call.workspace_id, path.id, body.answer, call.actor, call.at
    )
    return done if isinstance(done, Refused) else _decided(call, path, done.outcome)


@area.post("/approvals/<id>/deny", "approvals:act", {200: DecidedOut})
def deny_approval(call: Call, path: ById, body: AnswerAsk) -> Result:
    """Say no; nothing happens to the automation."""
    done = requesting.deny(
        call.session, call.workspace_id, path.id, body.answer, call.actor, call.at
    )
    return done if isinstance(done, Refused) else _decided(call, path, done)


@area.post("/approvals/<id>/withdraw", "approvals:manage", {200: DecidedOut})
def withdraw_approval(call: Call, path: ById) -> Result:
    """Take back a request that this key asked."""
    done = requesting.withdraw(call.session, call.workspace_id, path.id, call.actor, call.at)
    return done if isinstance(done, Refused) else _decided(call, path, done)


def _found(call: Call, public_id: str) -> ApprovalRow | None:
    call.session.flush()
    return approval_rows.get_approval(call.session, call.workspace_id, public_id)


def _detail(call: Call, row: ApprovalRow) -> dict[str, Any]:
    found = queries.get_automation(call.session, call.workspace_id, row.resource_id)
    changed = found is not None and digest(found.draft) != row.content_hash
    return {**shown(row, ApprovalOut), "draft_changed": changed}


def _decided(call: Call, path: ById, outcome: Transitioned | Recorded) -> Result:
    found = _found(call, path.id)
    if found is None:
        return UNKNOWN
    applied = "recorded" if isinstance(outcome, Recorded) else "transitioned"
    return Answer(DecidedOut(**_detail(call, found), applied=applied))
