"""Senders and sending domains by API."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from engine.core.outcome import Refused, invalid, missing
from engine.delivery import queries, service
from engine.delivery.queries import DomainRow, SenderRow
from engine.delivery.service import SenderInput
from web.api.answers import etag, precondition
from web.api.area import Area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, Email, In, Out, Page, PageQuery, ShortText, one_of, shown
from web.api.messages import DELIVERY

senders: Final = Area("senders", "Addresses the workspace writes from.", DELIVERY)
ATTEST: Final = "attest"
domains: Final = Area("sending-domains", "Domains the workspace may send from.", DELIVERY)


class NewSender(In):
    """A sender to create. is_default: mail goes out from it where nothing else is said."""

    email: Email = Field(examples=["hello@shop.example"])
    name: ShortText = ""
    reply_to: Email | None = None
    is_default: bool = False


class SenderChange(In):
    """What changes; only the keys that are sent."""

    email: Email = Field(default_factory=str)
    name: ShortText = ""
    reply_to: Email | None = None
    is_default: bool = False


class SenderOut(Out):
    """A sender."""

    id: str
    email: str
    name: str
    reply_to: str | None
    is_default: bool
    created_at: datetime


class NewDomain(In):
    """A domain and how it is shown to be yours: `attest` is your word, which is audited."""

    domain: Annotated[str, Field(min_length=1, max_length=253, examples=["shop.example"])]
    verify: one_of(ATTEST, "dns")  # type: ignore[valid-type]


class DomainOut(Out):
    """A sending domain. verified_by: attest, dns, or null."""

    id: str
    domain: str
    verified_by: str | None
    verified_at: datetime | None
    created_at: datetime


@senders.post("/senders", "senders:manage", {201: SenderOut, 200: SenderOut})
def create_sender(call: Call, body: NewSender) -> Result:
    """Create a sender; 200 with the existing one when the address is there."""
    data = SenderInput(body.email, body.name, body.reply_to, body.is_default)
    made = service.create_sender(call.session, call.workspace_id, data, call.actor, call.at)
    if isinstance(made, Refused):
        return made
    return Answer(_sender(made.sender), 201 if made.created else 200)


@senders.get("/senders", "senders:read", Page[SenderOut])
def list_senders(call: Call, query: PageQuery) -> Result:
    """List senders, newest first."""
    rows, following = queries.page_senders(
        call.session, call.workspace_id, query.cursor, query.limit
    )
    return Answer(Page[SenderOut](items=[_sender(row) for row in rows], next=following))


@senders.get("/senders/<id>", "senders:read", SenderOut)
def get_sender(call: Call, path: ById) -> Result:
    """Read one sender."""
    row = queries.get_sender(call.session, call.workspace_id, path.id)
    return missing("sender_not_found") if row is None else etag(Answer(_sender(row)))


@senders.patch("/senders/<id>", "senders:manage", SenderOut)
def update_sender(call: Call, path: ById, body: SenderChange) -> Result:
    """Change a sender: only the keys that are sent; is_default true makes it the default."""
    row = queries.get_sender(call.session, call.workspace_id, path.id, hold=True)
    if row is None:
        return missing("sender_not_found")
    known = {"email": row.email, "name": row.name, "reply_to": row.reply_to}
    sent = {name: getattr(body, name) for name in known.keys() & body.model_fields_set}
    data = SenderInput(**{**known, **sent}, default=body.is_default)
    kept = service.update_sender(
        call.session, call.workspace_id, path.id, data, call.actor, call.at
    )
    return kept if isinstance(kept, Refused) else Answer(_sender(kept))


@senders.put("/senders/<id>", "senders:manage", {200: SenderOut}, guarded=True)
def replace_sender(call: Call, path: ById, body: NewSender) -> Result:
    """Replace a sender; If-Match is the ETag that GET answered."""
    row = queries.get_sender(call.session, call.workspace_id, path.id, hold=True)
    if row is None:
        return missing("sender_not_found")
    refused = precondition(call, Answer(_sender(row)))
    if refused is not None:
        return refused
    data = SenderInput(body.email, body.name, body.reply_to, body.is_default)
    kept = service.update_sender(
        call.session, call.workspace_id, path.id, data, call.actor, call.at
    )
    return kept if isinstance(kept, Refused) else etag(Answer(_sender(kept)))


@senders.delete("/senders/<id>", "senders:manage")
def delete_sender(call: Call, path: ById) -> Result:
    """Delete a sender that is not the default."""
    gone = service.delete_sender(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


@domains.post("/sending-domains", "senders:manage", {201: DomainOut, 200: DomainOut})
def create_sending_domain(call: Call, body: NewDomain) -> Result:
    """Add a sending domain; 200 with the existing one when it is there."""
    if body.verify != ATTEST:
        return invalid("dns_check_not_built", "/verify")
    made = service.attest_domain(call.session, call.workspace_id, body.domain, call.actor, call.at)
    if isinstance(made, Refused):
        return made
    return Answer(_domain(made.domain), 201 if made.created else 200)


@domains.get("/sending-domains", "senders:read", Page[DomainOut])
def list_sending_domains(call: Call, query: PageQuery) -> Result:
    """List sending domains, newest first."""
    rows, following = queries.page_domains(
        call.session, call.workspace_id, query.cursor, query.limit
    )
    return Answer(Page[DomainOut](items=[_domain(row) for row in rows], next=following))


@domains.get("/sending-domains/<id>", "senders:read", DomainOut)
def get_sending_domain(call: Call, path: ById) -> Result:
    """Read one sending domain."""
    row = queries.get_domain(call.session, call.workspace_id, path.id)
    return missing("sending_domain_not_found") if row is None else etag(Answer(_domain(row)))


@domains.delete("/sending-domains/<id>", "senders:manage")
def delete_sending_domain(call: Call, path: ById) -> Result:
    """Delete a sending domain."""
    gone = service.delete_domain(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


def _sender(row: SenderRow) -> SenderOut:
    return SenderOut(**shown(row, SenderOut))


def _domain(row: DomainRow) -> DomainOut:
    return DomainOut(**shown(row, DomainOut))
