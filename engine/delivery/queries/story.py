"""A person's lines from delivery: mail queued, and what became of it."""

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from engine.audience.queries import StoryLine, StoryPlace
from engine.audience.queries.story import earlier
from engine.delivery.kinds.outbox import KEPT
from engine.delivery.models import EmailSend, SentMessage, Template

QUEUED_LINE = "send"
ENDED_LINE = "send_ended"


def story(
    session: Session,
    workspace_id: int,
    contact_row_id: int,
    before: StoryPlace | None = None,
    limit: int = 50,
) -> list[StoryLine]:
    """Return when mail to the person was queued and how it ended, newest first.

    title_code: send_queued, send_sent, send_kept (in the built-in outbox) or send_failed; params:
    to, kind, subject (once handed over), template, code and reply of a failure.
    """
    lines = [
        line
        for strand in (QUEUED_LINE, ENDED_LINE)
        for line in _lines(session, workspace_id, contact_row_id, strand, before, limit)
    ]
    return sorted(lines, key=lambda line: line.place, reverse=True)[:limit]


def _lines(
    session: Session,
    workspace_id: int,
    contact_row_id: int,
    strand: str,
    before: StoryPlace | None,
    limit: int,
) -> list[StoryLine]:
    queued = strand == QUEUED_LINE
    ended_at = func.coalesce(EmailSend.failed_at, EmailSend.sent_at)
    instant = EmailSend.queued_at if queued else ended_at
    rows = session.execute(
        _mails(workspace_id, instant)
        .where(
            EmailSend.contact_id == contact_row_id,
            instant.is_not(None),
            earlier(instant, EmailSend.id, strand, before),
        )
        .order_by(instant.desc(), EmailSend.id.desc())
        .limit(limit)
    )
    return [
        StoryLine(
            at=row.at,
            kind=strand,
            title_code="send_queued" if queued else _ended(row),
            params=_params(row, failed=not queued and row.failed_at is not None),
            ref=row.public_id,
            row_id=row.id,
        )
        for row in rows
    ]


def _mails(workspace_id: int, instant: Any) -> Select[*tuple[Any, ...]]:
    return (
        select(
            EmailSend.id,
            EmailSend.public_id,
            EmailSend.kind,
            EmailSend.to_email,
            EmailSend.failed_at,
            EmailSend.provider_reply,
            EmailSend.error_code,
            EmailSend.error_message,
            SentMessage.subject,
            Template.name.label("template"),
            instant.label("at"),
        )
        .outerjoin(
            SentMessage,
            (SentMessage.send_id == EmailSend.id)
            & (SentMessage.workspace_id == EmailSend.workspace_id),
        )
        .outerjoin(
            Template,
            (Template.id == EmailSend.template_id)
            & (Template.workspace_id == EmailSend.workspace_id),
        )
        .where(EmailSend.workspace_id == workspace_id)
    )


def _ended(row: Any) -> str:
    if row.failed_at is not None:
        return "send_failed"
    return "send_kept" if row.provider_reply == KEPT else "send_sent"


def _params(row: Any, *, failed: bool) -> dict[str, str]:
    params = {
        "to": row.to_email,
        "kind": row.kind,
        "subject": row.subject,
        "template": row.template,
        "code": row.error_code if failed else None,
        "reply": row.error_message if failed else None,
    }
    return {name: value for name, value in params.items() if value}
