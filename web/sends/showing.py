"""What the pages of mails show: rows of the outbox, one mail as it was sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email import message_from_string, policy
from email.utils import formataddr
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.automations import queries as automations
from engine.delivery import queries
from engine.delivery.queries import MessageRow, SendDetail, SendRow
from web.sends import messages

FIELDS: Final = ("status", "q")
Runs = Mapping[int, automations.RunOfSend]


@dataclass(frozen=True)
class Line:
    """A mail as the outbox shows it."""

    public_id: str
    subject: str
    person_id: str
    address: str
    origin: str
    status: str
    at: datetime
    error: str


@dataclass(frozen=True)
class Head:
    """One mail; see templates/sends/detail.html."""

    public_id: str
    subject: str
    sender: str
    address: str
    person: str
    person_id: str
    status: str
    at: datetime
    due: datetime | None
    handed_over_at: datetime | None
    attempt: int
    reply: str
    message_id: str
    origin: str
    run_id: str
    error: str
    code: str


@dataclass(frozen=True)
class Message:
    """The message as it was handed over."""

    headers: Sequence[tuple[str, str]]
    text: str
    has_html: bool


def outbox(
    session: Session, workspace_id: int, asked: Mapping[str, str], after: str | None
) -> tuple[list[Line], str | None]:
    """Return a page of mails, and the cursor of the next; q: a whole address or a message id."""
    status = asked["status"] or None
    contact: str | None = None
    message_id: str | None = None
    if asked["q"]:
        person = audience.find_person(session, workspace_id, asked["q"])
        contact, message_id = (person.public_id, None) if person else (None, asked["q"])
    rows, following = queries.page_sends(
        session,
        workspace_id,
        contact=contact,
        status=status,
        message_id=message_id,
        after=after,
    )
    ids = [row.row_id for row in rows]
    runs = automations.runs_of_sends(session, workspace_id, ids)
    subjects = queries.subjects(session, workspace_id, ids)
    return [_line(row, runs, subjects) for row in rows], following


def page(session: Session, workspace_id: int, found: SendDetail) -> dict[str, Any]:
    """Return the context of sends/detail.html."""
    send = found.send
    runs = automations.runs_of_sends(session, workspace_id, [send.row_id])
    run = runs.get(send.row_id)
    person = audience.get_contact(session, workspace_id, send.contact) if send.contact else None
    shown = messages.status(send)
    head = Head(
        public_id=send.public_id,
        subject=found.message.subject if found.message else send.template_name or "",
        sender=formataddr((send.from_name, send.from_email), "utf-8")
        if send.from_name
        else send.from_email,
        address=send.to_email,
        person=person.name if person else "",
        person_id=person.public_id if person else "",
        status=shown,
        at=send.queued_at,
        due=send.due_at if send.status == "queued" and send.lease_until is None else None,
        handed_over_at=send.handed_over_at,
        attempt=send.attempt,
        reply="" if send.kept else send.provider_reply or "",
        message_id=send.message_id or "",
        origin=messages.origin(send, run.automation_name if run else None),
        run_id=run.run_id if run else "",
        error=messages.failed(send.error_code, send.error_message),
        code=send.error_code or "",
    )
    return {"send": head, "message": _message(found.message) if found.message else None}


def _line(row: SendRow, runs: Runs, subjects: Mapping[int, str]) -> Line:
    run = runs.get(row.row_id)
    return Line(
        public_id=row.public_id,
        subject=subjects.get(row.row_id) or row.template_name or "",
        person_id=row.contact or "",
        address=row.to_email,
        origin=messages.origin(row, run.automation_name if run else None),
        status=messages.status(row),
        at=row.sent_at or row.failed_at or row.queued_at,
        error=messages.failed(row.error_code, row.error_message),
    )


def _message(row: MessageRow) -> Message:
    parsed = message_from_string(row.headers, policy=policy.default)
    headers = [(name, str(value)) for name, value in parsed.items()]
    return Message(headers, row.text, bool(row.html.strip()))
