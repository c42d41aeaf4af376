"""Old mails with their messages as sent, and the mails of people who are to be forgotten."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, not_, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.core.db import among
from engine.core.pruning import SLICE, Slice, delete_all, oldest
from engine.delivery.models import QUEUED, EmailSend, SentMessage


def old_sends(
    session: Session,
    workspace_id: int,
    before: datetime,
    in_use: ColumnElement[bool],
    after: int,
    limit: int = SLICE,
) -> Slice:
    """Return sends of before `before`, but for those that wait or that a kept run refers to.

    in_use: what an upper room says of a row of email_sends.
    """
    row = EmailSend
    return oldest(
        session,
        row,
        row.workspace_id == workspace_id,
        and_(row.queued_at < before, row.status != QUEUED, not_(in_use)),
        row.queued_at < before,
        after,
        limit,
    )


def forget_sends(session: Session, send_ids: Sequence[int]) -> int:
    """Delete sends with their messages; return how many sends went."""
    delete_all(session, SentMessage, among(session, SentMessage.send_id, send_ids))
    return delete_all(session, EmailSend, among(session, EmailSend.id, send_ids))


def person_in_use() -> ColumnElement[bool]:
    """Return the predicate "a mail to this row of contacts is under way"."""
    row = EmailSend
    return exists().where(
        row.workspace_id == Contact.workspace_id,
        row.contact_id == Contact.id,
        row.status == QUEUED,
    )


def forget_people(session: Session, workspace_id: int, contact_ids: Sequence[int]) -> int:
    """Delete a bounded part of the mails to these people; return how many went."""
    row = EmailSend
    ids = session.scalars(
        select(row.id)
        .where(
            row.workspace_id == workspace_id,
            among(session, row.contact_id, contact_ids),
            row.status != QUEUED,
        )
        # In no order: for one by id a database walks the mails of the whole workspace.
        .limit(SLICE)
    ).all()
    return forget_sends(session, ids) if ids else 0
