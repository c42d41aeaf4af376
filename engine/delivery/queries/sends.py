"""Reads of sends: one with its message as sent, pages by keyset, and rows for other rooms."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, Select, and_, exists, literal_column, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.core.db import older
from engine.core.ids import is_public_id, write_cursor
from engine.core.text import storable
from engine.delivery.kinds.outbox import KEPT
from engine.delivery.models import QUEUED, SENT, EmailSend, SentMessage, Template

# Where nearly every mail stands: newest first finds these soon, the others have an index.
_PLENTY: Final = (QUEUED, SENT)


@dataclass(frozen=True)
class SendRow:
    """One mail to one person. row_id stays inside; public_id is the `id`.

    contact, template: public ids. attempt: tries so far. due_at: the next try, or the end of the
    lease while claimed. error_code with status queued: why the last try did not succeed.
    """

    row_id: int
    public_id: str
    kind: str
    pool: str
    status: str
    attempt: int
    contact: str | None
    template: str | None
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
    lease_until: datetime | None
    handed_over_at: datetime | None
    sent_at: datetime | None
    failed_at: datetime | None

    @property
    def kept(self) -> bool:
        """Whether the mail was kept in the built-in outbox instead of leaving."""
        return self.provider_reply == KEPT


@dataclass(frozen=True)
class MessageRow:
    """A message as it was handed over."""

    subject: str
    html: str
    text: str
    headers: str
    created_at: datetime


@dataclass(frozen=True)
class SendDetail:
    """A send with its message; message None: nothing was handed over yet."""

    send: SendRow
    message: MessageRow | None


def get_send(session: Session, workspace_id: int, public_id: str) -> SendDetail | None:
    """Return one send with the message as sent, or None."""
    row = session.execute(_sends(workspace_id).where(EmailSend.public_id == public_id)).first()
    if row is None:
        return None
    send = _send_row(row)
    message = session.scalar(
        select(SentMessage).where(
            SentMessage.workspace_id == workspace_id, SentMessage.send_id == send.row_id
        )
    )
    return SendDetail(send, None if message is None else _message_row(message))


def sends_by_row_id(
    session: Session, workspace_id: int, row_ids: Collection[int]
) -> dict[int, SendRow]:
    """Return sends by row id, for rooms that hold rows pointing to them; one query."""
    if not row_ids:
        return {}
    found = session.execute(_sends(workspace_id).where(EmailSend.id.in_(row_ids)))
    return {row.id: _send_row(row) for row in found}


def page_sends(
    session: Session,
    workspace_id: int,
    *,
    contact: str | None = None,
    status: str | None = None,
    kind: str | None = None,
    message_id: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[SendRow], str | None]:
    """Return a page of sends, newest first, and the cursor of the next page.

    contact: a public id; unknown ones give an empty page. message_id: with or without brackets.
    """
    query = _sends(workspace_id)
    place: ColumnElement[int] = EmailSend.id.expression
    if contact is not None:
        query = query.where(Contact.public_id == contact)
        # A person's mails are read and sorted: what is in order is those of the whole workspace.
        place = EmailSend.id + 0
    if status is not None:
        # Of one person's mails there is no index by status either.
        theirs = EmailSend.status == status
        query = query.where(_in_status(status) if contact is None else theirs)
    if kind is not None:
        query = query.where(EmailSend.kind == kind)
    if message_id is not None:
        # Its left part is the send's public id, which has an index.
        bare = message_id.strip().strip("<>")
        public_id = bare.partition("@")[0]
        if not is_public_id(public_id) or not storable(bare):
            return [], None
        query = query.where(EmailSend.public_id == public_id, EmailSend.message_id == f"<{bare}>")
    query = query.where(older(place, after)).order_by(place.desc())
    found = session.execute(query.limit(limit + 1)).all()
    rows = [_send_row(row) for row in found[:limit]]
    return rows, write_cursor(rows[-1].row_id) if len(found) > limit else None


def _in_status(status: str) -> ColumnElement[bool]:
    """Return the predicate "is in this status", so that no page reads a workspace in vain.

    Spelt out: SQLite uses a partial index only where the statement itself bears its condition.
    """
    if status == QUEUED:
        # Nothing waits anywhere: said by the index of what is due, before any row is read.
        anybody = EmailSend.__table__.alias("waiting")
        waits = exists().where(anybody.c.status == literal_column(f"'{QUEUED}'"))
        return and_(EmailSend.status == QUEUED, waits)
    if status == SENT:
        return EmailSend.status == SENT
    rarer = [EmailSend.status != literal_column(f"'{each}'") for each in _PLENTY]
    return and_(EmailSend.status == status, *rarer)


def _sends(workspace_id: int) -> Select[*tuple[Any, ...]]:
    return (
        select(
            EmailSend.id,
            EmailSend.public_id,
            EmailSend.kind,
            EmailSend.pool,
            EmailSend.status,
            EmailSend.attempt,
            Contact.public_id.label("contact"),
            Template.public_id.label("template"),
            Template.name.label("template_name"),
            EmailSend.to_email,
            EmailSend.from_email,
            EmailSend.from_name,
            EmailSend.reply_to,
            EmailSend.message_id,
            EmailSend.provider_reply,
            EmailSend.error_code,
            EmailSend.error_message,
            EmailSend.queued_at,
            EmailSend.due_at,
            EmailSend.lease_until,
            EmailSend.handed_over_at,
            EmailSend.sent_at,
            EmailSend.failed_at,
        )
        .select_from(EmailSend)
        .outerjoin(
            Contact,
            (Contact.id == EmailSend.contact_id) & (Contact.workspace_id == EmailSend.workspace_id),
        )
        .outerjoin(
            Template,
            (Template.id == EmailSend.template_id)
            & (Template.workspace_id == EmailSend.workspace_id),
        )
        .where(EmailSend.workspace_id == workspace_id)
    )


def _send_row(row: Row[*tuple[Any, ...]]) -> SendRow:
    fields = dict(row._mapping)
    return SendRow(row_id=fields.pop("id"), **fields)


def _message_row(row: SentMessage) -> MessageRow:
    return MessageRow(row.subject, row.html, row.text, row.headers, row.created_at)
