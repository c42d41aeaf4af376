"""Removes people for good who were deleted a while ago (facts 6.3), with all that stands on them.

What upper rooms hold of them goes first. An address on the suppression list stays there: it names
no contact, and must not get mail again because somebody was deleted.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, not_, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact, ContactPropertyValue, TopicMembership
from engine.core.db import among
from engine.core.pruning import Slice, delete_all

# How long a deleted contact can still be looked at (facts 6.4).
PURGED_AFTER: Final = timedelta(days=30)
PEOPLE: Final = 50


def purgeable(
    session: Session, workspace_id: int, at: datetime, in_use: ColumnElement[bool], after: int
) -> Slice:
    """Return people deleted long enough ago, behind the row id `after`.

    in_use: what upper rooms say of a row of contacts; such a person waits for another day.
    """
    row = Contact
    found = session.scalars(
        select(row.id)
        .where(
            row.workspace_id == workspace_id,
            row.id > after,
            row.deleted_at < at - PURGED_AFTER,
            not_(in_use),
        )
        .order_by(row.id)
        .limit(PEOPLE)
    ).all()
    return Slice(found, found[-1] if len(found) == PEOPLE else None)


def purge(session: Session, workspace_id: int, contact_ids: Sequence[int]) -> int:
    """Delete the rows of these deleted people; return how many people went."""
    row = Contact
    for child in (TopicMembership, ContactPropertyValue):
        theirs = among(session, child.contact_id, contact_ids)
        delete_all(session, child, and_(child.workspace_id == workspace_id, theirs))
    gone = and_(row.workspace_id == workspace_id, row.deleted_at.is_not(None))
    return delete_all(session, row, and_(gone, among(session, row.id, contact_ids)))
