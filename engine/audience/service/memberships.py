"""Who is in a topic: subscribe and unsubscribe (facts 3.4, 3.5). The row is the fact.

Where a topic asks for double opt-in the row is stored pending: it starts nothing and sends nothing
until the person confirms.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from engine.audience.inputs import Subscription, Unsubscription
from engine.audience.models import Contact, TopicMembership
from engine.audience.queries import TopicRow, get_topic
from engine.core import events
from engine.core.db import upsert
from engine.core.ids import is_public_id
from engine.core.outcome import Refused, missing

SUBSCRIBED: Final = "topic_subscribed"
PENDING: Final = "topic_pending"
UNSUBSCRIBED: Final = "topic_unsubscribed"


def subscribe(
    session: Session, workspace_id: int, topic_id: str, contact_id: str, source: str, at: datetime
) -> Subscription | Refused:
    """Put a contact into a topic; both by public id.

    An effective subscription takes back a global opt-out and records `topic_subscribed`; a pending
    one does neither. Doing it again is already_member. Refused: topic_not_found, contact_not_found.
    """
    return subscribe_many(session, workspace_id, topic_id, [contact_id], source, at)[0]


def subscribe_many(
    session: Session,
    workspace_id: int,
    topic_id: str,
    contact_ids: Sequence[str],
    source: str,
    at: datetime,
    *,
    start_automations: bool = True,
) -> list[Subscription | Refused]:
    """Put many contacts into one topic; one answer each, in order; a second naming is a repeat.

    start_automations: False for bulk writes that must start nothing (decision A2).
    """
    topic = get_topic(session, workspace_id, topic_id)
    if topic is None:
        return [missing("topic_not_found") for _ in contact_ids]
    people = _live(session, workspace_id, contact_ids)
    joined = _join(session, workspace_id, topic, sorted(people.values()), source, at)
    if not topic.require_double_opt_in:
        _take_back_opt_out(session, workspace_id, joined, at)
    _record(session, workspace_id, topic, joined, source, at, start_automations=start_automations)
    answers: list[Subscription | Refused] = []
    fresh = set(joined)
    for contact_id in contact_ids:
        row_id = people.get(contact_id)
        if row_id is None:
            answers.append(missing("contact_not_found"))
        elif row_id in fresh:
            fresh.remove(row_id)
            pending = topic.require_double_opt_in
            answers.append(Subscription("pending_doi" if pending else "subscribed"))
        else:
            answers.append(Subscription("already_member"))
    return answers


def unsubscribe(
    session: Session, workspace_id: int, topic_id: str, contact_id: str, source: str, at: datetime
) -> Unsubscription | Refused:
    """Take a contact out of a topic; both by public id. Not being in it is not_member.

    Refused: topic_not_found, contact_not_found.
    """
    topic = get_topic(session, workspace_id, topic_id)
    if topic is None:
        return missing("topic_not_found")
    row_id = _live(session, workspace_id, [contact_id]).get(contact_id)
    if row_id is None:
        return missing("contact_not_found")
    member = TopicMembership
    left = session.execute(
        delete(member)
        .where(
            member.workspace_id == workspace_id,
            member.topic_id == topic.row_id,
            member.contact_id == row_id,
        )
        .returning(member.id)
        .execution_options(synchronize_session=False)
    ).all()
    if not left:
        return Unsubscription("not_member")
    session.execute(
        update(Contact)
        .where(Contact.workspace_id == workspace_id, Contact.id == row_id)
        .values(updated_at=at)
        .execution_options(synchronize_session=False)
    )
    event = _event(workspace_id, topic, row_id, UNSUBSCRIBED, source, at)
    events.record(session, [event], at)
    return Unsubscription("unsubscribed")


def _live(session: Session, workspace_id: int, contact_ids: Sequence[str]) -> dict[str, int]:
    asked = [public_id for public_id in contact_ids if is_public_id(public_id)]
    rows = session.execute(
        select(Contact.public_id, Contact.id).where(
            Contact.workspace_id == workspace_id,
            Contact.deleted_at.is_(None),
            Contact.public_id.in_(asked),
        )
    )
    return dict(rows.all())


def _join(
    session: Session,
    workspace_id: int,
    topic: TopicRow,
    row_ids: Sequence[int],
    source: str,
    at: datetime,
) -> list[int]:
    """Insert the memberships that are missing; return whose they are."""
    rows = [
        {
            "workspace_id": workspace_id,
            "topic_id": topic.row_id,
            "contact_id": row_id,
            "pending_doi_confirmation": topic.require_double_opt_in,
            "source": source,
            "created_at": at,
        }
        for row_id in row_ids
    ]
    if not rows:
        return []
    statement = upsert(session, TopicMembership).on_conflict_do_nothing(
        index_elements=["workspace_id", "topic_id", "contact_id"]
    )
    return list(session.scalars(statement.returning(TopicMembership.contact_id), rows))


def _take_back_opt_out(
    session: Session, workspace_id: int, row_ids: Sequence[int], at: datetime
) -> None:
    if not row_ids:
        return
    session.execute(
        update(Contact)
        .where(
            Contact.workspace_id == workspace_id,
            Contact.id.in_(row_ids),
            Contact.unsubscribed_at.is_not(None),
        )
        .values(unsubscribed_at=None, updated_at=at)
        .execution_options(synchronize_session=False)
    )


def _record(
    session: Session,
    workspace_id: int,
    topic: TopicRow,
    row_ids: Sequence[int],
    source: str,
    at: datetime,
    *,
    start_automations: bool,
) -> None:
    kind = PENDING if topic.require_double_opt_in else SUBSCRIBED
    batch = [
        _event(workspace_id, topic, row_id, kind, source, at, start_automations=start_automations)
        for row_id in row_ids
    ]
    events.record(session, batch, at)


def _event(
    workspace_id: int,
    topic: TopicRow,
    row_id: int,
    kind: str,
    source: str,
    at: datetime,
    *,
    start_automations: bool = True,
) -> events.NewEvent:
    """Return the event of one person; its name is the topic's public id."""
    data: Mapping[str, object] = {"topic_name": topic.name}
    return events.NewEvent(
        workspace_id, row_id, kind, source, at, topic.public_id, data, start_automations
    )
