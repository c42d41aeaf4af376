"""Leaving everything at once: the global opt-out behind the link in a mail (facts 3.5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from engine.audience.models import Contact, Topic, TopicMembership
from engine.audience.service import marks
from engine.audience.service.memberships import UNSUBSCRIBED as TOPIC_UNSUBSCRIBED
from engine.core import events
from engine.core.ids import is_public_id
from engine.core.outcome import Refused, missing

UNSUBSCRIBED: Final = "unsubscribed"
# Where an opt-out comes from (facts 3.5).
PUBLIC_EMAIL_LINK: Final = "public_email_link"


@dataclass(frozen=True)
class OptedOut:
    """What an opt-out came to. already: it stood before; topics: how many were left."""

    already: bool
    topics: int


def opt_out(
    session: Session,
    workspace_id: int,
    contact_id: str,
    source: str,
    at: datetime,
    send: str | None = None,
) -> OptedOut | Refused:
    """End all marketing mail to a contact and take it out of every topic; both by public id.

    Records `topic_unsubscribed` per topic and `unsubscribed` once; doing it again changes nothing.
    A deleted contact may still opt out, and whoever has its address since opts out with it, as will
    whoever gets it next (`marks`): the link stood in a mail to that address. send: the mail it
    stood in. A later effective subscription takes the opt-out back (facts 3.4). Refused:
    contact_not_found.
    """
    people = _hold(session, workspace_id, contact_id)
    if not people:
        return missing("contact_not_found")
    for email in {person.email for person in people if person.email is not None}:
        marks.mark(session, workspace_id, email, at)
    fresh = [person.id for person in people if person.unsubscribed_at is None]
    left = _leave(session, workspace_id, [person.id for person in people])
    changed = sorted({*fresh, *(row.contact_id for row in left)})
    if not changed:
        return OptedOut(already=True, topics=0)
    session.execute(
        update(Contact)
        .where(Contact.workspace_id == workspace_id, Contact.id.in_(changed))
        .values(unsubscribed_at=func.coalesce(Contact.unsubscribed_at, at), updated_at=at)
        .execution_options(synchronize_session=False)
    )
    happened = [_topic_left(workspace_id, row, source, at) for row in left]
    data = {"send": send} if send else {}
    happened += [
        events.NewEvent(workspace_id, row_id, UNSUBSCRIBED, source, at, data=data)
        for row_id in fresh
    ]
    events.record(session, happened, at)
    return OptedOut(already=not fresh, topics=len(left))


def _hold(session: Session, workspace_id: int, contact_id: str) -> Sequence[Any]:
    """Lock the contact and, where it was deleted, the live one with its address."""
    if not is_public_id(contact_id):
        return []
    named = select(Contact.email).where(
        Contact.workspace_id == workspace_id,
        Contact.public_id == contact_id,
        Contact.email.is_not(None),
    )
    held = (
        select(Contact.id, Contact.email, Contact.unsubscribed_at)
        .where(
            Contact.workspace_id == workspace_id,
            or_(
                Contact.public_id == contact_id,
                Contact.deleted_at.is_(None) & Contact.email.in_(named),
            ),
        )
        .order_by(Contact.id)
        .with_for_update(key_share=True)
    )
    # Who gets the address while this waits for a lock is seen by a second look alone.
    return session.execute(held).all() and session.execute(held).all()


def _leave(session: Session, workspace_id: int, row_ids: Sequence[int]) -> Sequence[Any]:
    """Delete the memberships; return whose they were and of which topic."""
    member = TopicMembership
    gone = session.execute(
        delete(member)
        .where(member.workspace_id == workspace_id, member.contact_id.in_(row_ids))
        .returning(member.contact_id, member.topic_id)
        .execution_options(synchronize_session=False)
    ).all()
    topics = {
        row.id: row
        for row in session.execute(
            select(Topic.id, Topic.public_id, Topic.name).where(
                Topic.workspace_id == workspace_id, Topic.id.in_({row.topic_id for row in gone})
            )
        )
    }
    return [_Left(row.contact_id, *topics[row.topic_id][1:]) for row in gone]


@dataclass(frozen=True)
class _Left:
    contact_id: int
    topic: str
    topic_name: str


def _topic_left(workspace_id: int, left: _Left, source: str, at: datetime) -> events.NewEvent:
    data = {"topic_name": left.topic_name}
    return events.NewEvent(
        workspace_id, left.contact_id, TOPIC_UNSUBSCRIBED, source, at, left.topic, data
    )
