"""Sends by API: which mails went to whom, what became of them, and each message as sent."""

from datetime import datetime
from typing import Final

from engine.core.outcome import missing
from engine.delivery import queries
from engine.delivery.models import STATUSES
from engine.delivery.queries import MessageRow, SendRow
from web.api.answers import etag
from web.api.area import Area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, Out, Page, PageQuery, PublicId, one_of, shown
from web.api.messages import DELIVERY

area: Final = Area("sends", "Mails to single people, with what became of them.", DELIVERY)


class SendQuery(PageQuery):
    """Which sends. contact: an id."""

    contact: PublicId | None = None
    status: one_of(*STATUSES) | None = None  # type: ignore[valid-type]


class SendOut(Out):
    """A mail to one person. error_code while queued: why the last try did not succeed."""

    id: str
    kind: str
    pool: str
    status: str
    attempt: int
    contact_id: str | None
    template_id: str | None
    template_name: str | None
    to_email: str
    from_email: str
    from_name: str
    reply_to: str | None
    message_id: str | None
    provider_reply: str | None
    error_code: str | None
    error_message: str | None
    queued_at: datetime
    due_at: datetime
    handed_over_at: datetime | None
    sent_at: datetime | None
    failed_at: datetime | None


class MessageOut(Out):
    """A message as it was handed over."""

    subject: str
    html: str
    text: str
    headers: str
    created_at: datetime


class SendDetailOut(SendOut):
    """A send with its message; null while it has not been handed over."""

    message: MessageOut | None


@area.get("/sends", "sends:read", Page[SendOut])
def list_sends(call: Call, query: SendQuery) -> Result:
    """List sends, newest first."""
    rows, following = queries.page_sends(
        call.session,
        call.workspace_id,
        contact=query.contact,
        status=query.status,
        after=query.cursor,
        limit=query.limit,
    )
    return Answer(Page[SendOut](items=[SendOut(**_fields(row)) for row in rows], next=following))


@area.get("/sends/<id>", "sends:read", SendDetailOut)
def get_send(call: Call, path: ById) -> Result:
    """Read one send with the message as sent."""
    found = queries.get_send(call.session, call.workspace_id, path.id)
    if found is None:
        return missing("send_not_found")
    detail = SendDetailOut(**_fields(found.send), message=_message(found.message))
    return etag(Answer(detail))


def _message(row: MessageRow | None) -> MessageOut | None:
    return None if row is None else MessageOut.model_validate(row)


def _fields(row: SendRow) -> dict[str, object]:
    ids = {"contact_id": row.contact, "template_id": row.template}
    return {**shown(row, SendOut, *ids), **ids}
