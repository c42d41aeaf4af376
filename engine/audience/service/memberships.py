"""Who is in a topic: subscribe and unsubscribe (facts 3.4, 3.5). The row is the fact.

Where a topic asks for double opt-in the row is stored pending: it starts nothing and sends nothing
until the person confirms.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Boolean, String, delete, literal, select, update
from sqlalchemy.orm import Session

from engine.audience.inputs import Subscription, Unsubscription
from engine.audience.models import Contact, TopicMembership
from engine.audience.queries import TopicRow, get_topic
from engine.audience.service import marks, writing
from engine.core import events
from engine.core.db import Id, Instant, always, among, batch_table, upsert
from engine.core.ids import is_public_id
from engine.core.outcome import Refused, missing

SUBSCRIBED: Final = "topic_subscribed"
PENDING: Final = "topic_pending"
UNSUBSCRIBED: Final = "topic_unsubscribed"
# No contact has this row.
_NOBODY: Final = 0


def subscribe(
    session: Session, workspace_id: int, topic_id: str, contact_id: str, source: str, at: datetime
) -> Subscription | Refused:
    """Put a contact into a topic; both by public id.

    An effective subscription takes back a global opt-out and records `topic_subscribed`; a pending
    one does neither. Doing it again is already_member. Refused: topic_not_found, contact_not_found.
    """
    row_id = _row_id(session, workspace_id, contact_id)
    answers = subscribe_many(session, workspace_id, topic_id, [row_id], source, at)
    return answers[row_id]


def subscribe_many(
    session: Session,
    workspace_id: int,
    topic_id: str,
    row_ids: Collection[int],
    source: str,
    at: datetime,
    *,
    start_automations: bool = True,
    causes: Mapping[int, events.Cause] | None = None,
) -> Mapping[int, Subscription | Refused]:
    """Put many contacts into one topic as `subscribe` does one; answers by contact row id.

    start_automations: False for bulk writes that must start nothing (decision A2); causes: what
    made it happen, by contact row id.
    """
    live = _lock_live(session, workspace_id, row_ids)
    topic = get_topic(session, workspace_id, topic_id, keep=True)
    if topic is None:
        return dict.fromkeys(row_ids, missing("topic_not_found"))
    joined = _join(session, workspace_id, topic, live, source, at)
    if joined and not topic.require_double_opt_in:
        _take_back_opt_out(session, workspace_id, joined, at)
    kind = PENDING if topic.require_double_opt_in else SUBSCRIBED
    happened = [
        _event(workspace_id, topic, row_id, kind, source, at, start_automations=start_automations)
        for row_id in joined
    ]
    events.record(session, _caused(happened, causes), at)
    fresh = Subscription("pending_doi" if topic.require_double_opt_in else "subscribed")
    return {
        **dict.fromkeys(row_ids, missing("contact_not_found")),
        **dict.fromkeys(live, Subscription("already_member")),
        **dict.fromkeys(joined, fresh),
    }


def unsubscribe(
    session: Session, workspace_id: int, topic_id: str, contact_id: str, source: str, at: datetime
) -> Unsubscription | Refused:
    """Take a contact out of a topic; both by public id. Not being in it is not_member.

    Refused: topic_not_found, contact_not_found.
    """
    row_id = _row_id(session, workspace_id, contact_id)
    return unsubscribe_many(session, workspace_id, topic_id, [row_id], source, at)[row_id]


def unsubscribe_many(
    session: Session,
    workspace_id: int,
    topic_id: str,
    row_ids: Collection[int],
    source: str,
    at: datetime,
    *,
    causes: Mapping[int, events.Cause] | None = None,
) -> Mapping[int, Unsubscription | Refused]:
    """Take many contacts out of one topic as `unsubscribe` does one; answers by contact row id.

    causes: what made it happen, by contact row id.
    """
    live = _lock_live(session, workspace_id, row_ids)
    topic = get_topic(session, workspace_id, topic_id, keep=True)
    if topic is None:
        return dict.fromkeys(row_ids, missing("topic_not_found"))
    left = _leave(session, workspace_id, topic, live)
    if left:
        writing.touch(session, workspace_id, left, at)
    happened = [_event(workspace_id, topic, row_id, UNSUBSCRIBED, source, at) for row_id in left]
    events.record(session, _caused(happened, causes), at)
    return {
        **dict.fromkeys(row_ids, missing("contact_not_found")),
        **dict.fromkeys(live, Unsubscription("not_member")),
        **dict.fromkeys(left, Unsubscription("unsubscribed")),
    }


def _row_id(session: Session, workspace_id: int, contact_id: str) -> int:
    """Return the row of the live contact with this public id, or that of nobody."""
    if not is_public_id(contact_id):
        return _NOBODY
    found = session.scalar(
        select(Contact.id).where(
            Contact.workspace_id == workspace_id,
            Contact.deleted_at.is_(None),
            Contact.public_id == contact_id,
        )
    )
    return found or _NOBODY


def _lock_live(session: Session, workspace_id: int, row_ids: Collection[int]) -> Sequence[int]:
    """Lock the live contacts among these, in the one order of all who lock (before the topic)."""
    return session.scalars(
        select(Contact.id)
        .where(
            Contact.workspace_id == workspace_id,
            Contact.deleted_at.is_(None),
            among(session, Contact.id, row_ids),
        )
        .order_by(Contact.id)
        .with_for_update(key_share=True)
    ).all()


def _join(
    session: Session,
    workspace_id: int,
    topic: TopicRow,
    row_ids: Sequence[int],
    source: str,
    at: datetime,
) -> Sequence[int]:
    """Insert the memberships that are missing; return whose they are."""
    if not row_ids:
        return []
    people = batch_table(session, {"contact_id": Id}, [{"contact_id": each} for each in row_ids])
    row = {
        "workspace_id": literal(workspace_id, Id),
        "topic_id": literal(topic.row_id, Id),
        "contact_id": people.c.contact_id,
        "pending_doi_confirmation": literal(topic.require_double_opt_in, Boolean()),
        "source": literal(source, String()),
        "created_at": literal(at, Instant()),
    }
    statement = upsert(session, TopicMembership).from_select(
        list(row), select(*row.values()).where(always())
    )
    return session.scalars(
        statement.on_conflict_do_nothing(
            index_elements=["workspace_id", "topic_id", "contact_id"]
        ).returning(TopicMembership.contact_id)
    ).all()


def _leave(
    session: Session, workspace_id: int, topic: TopicRow, row_ids: Sequence[int]
) -> Sequence[int]:
    """Delete the memberships that are there; return whose they were."""
    member = TopicMembership
    return session.scalars(
        delete(member)
        .where(
            member.workspace_id == workspace_id,
            member.topic_id == topic.row_id,
            among(session, member.contact_id, row_ids),
        )
        .returning(member.contact_id)
        .execution_options(synchronize_session=False)
    ).all()


def _take_back_opt_out(
    session: Session, workspace_id: int, row_ids: Sequence[int], at: datetime
) -> None:
    back = session.scalars(
        update(Contact)
        .where(
            Contact.workspace_id == workspace_id,
            among(session, Contact.id, row_ids),
            Contact.unsubscribed_at.is_not(None),
        )
        .values(unsubscribed_at=None, updated_at=at)
        .returning(Contact.email)
        .execution_options(synchronize_session=False)
    )
    marks.unmark(session, workspace_id, {email for email in back if email is not None})


def _caused(
    happened: Sequence[events.NewEvent], causes: Mapping[int, events.Cause] | None
) -> Sequence[events.NewEvent]:
    return [events.caused(each, (causes or {}).get(each.contact_id)) for each in happened]


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
