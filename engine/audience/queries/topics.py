"""Reads of topics, their members, and the workspace's custom properties."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact, Property, Topic, TopicMembership
from engine.core.db import next_cursor, older
from engine.core.ids import is_public_id, read_cursor, write_cursor
from engine.core.text import storable


@dataclass(frozen=True)
class TopicRow:
    """A topic as pages and the API show it."""

    row_id: int
    public_id: str
    name: str
    description: str | None
    require_double_opt_in: bool
    created_at: datetime


@dataclass(frozen=True)
class MemberRow:
    """A person in a topic. pending: a confirmation is still owed (facts 3.4)."""

    contact_id: str
    email: str | None
    first_name: str | None
    last_name: str | None
    pending: bool
    source: str
    since: datetime


@dataclass(frozen=True)
class MembershipRow:
    """A topic of a person."""

    topic_id: str
    topic_name: str
    pending: bool
    source: str
    since: datetime


@dataclass(frozen=True)
class PropertyRow:
    """A custom property as pages and the API show it. type: text, number, boolean or instant."""

    row_id: int
    public_id: str
    key: str
    label: str
    type: str
    created_at: datetime


def get_topic(
    session: Session,
    workspace_id: int,
    public_id: str,
    *,
    hold: bool = False,
    keep: bool = False,
) -> TopicRow | None:
    """Return the topic with this public id, or None.

    hold: nobody else changes it until the caller's transaction ends; keep: nobody deletes it until
    then, but others may keep it too.
    """
    if not is_public_id(public_id):
        return None
    query = _topics(workspace_id).where(Topic.public_id == public_id)
    if hold:
        query = query.with_for_update()
    elif keep:
        query = query.with_for_update(read=True, key_share=True)
    row = session.execute(query).first()
    return TopicRow(*row) if row else None


def page_topics(
    session: Session, workspace_id: int, after: str | None = None, limit: int = 50
) -> tuple[list[TopicRow], str | None]:
    """Return a page of topics, newest first, and the cursor of the next page."""
    query = _topics(workspace_id).where(older(Topic.id, after)).order_by(Topic.id.desc())
    rows = [TopicRow(*row) for row in session.execute(query.limit(limit + 1))]
    return rows[:limit], next_cursor([row.row_id for row in rows], limit)


def page_members(
    session: Session, workspace_id: int, topic_id: str, after: str | None = None, limit: int = 50
) -> tuple[list[MemberRow], str | None]:
    """Return a page of a topic's live members, newest first, and the cursor of the next page.

    topic_id: the public id; an unknown one has no members.
    """
    query = (
        select(
            TopicMembership.id,
            Contact.public_id,
            Contact.email,
            Contact.first_name,
            Contact.last_name,
            TopicMembership.pending_doi_confirmation,
            TopicMembership.source,
            TopicMembership.created_at,
        )
        .join(Contact, Contact.id == TopicMembership.contact_id)
        .join(Topic, Topic.id == TopicMembership.topic_id)
        .where(
            TopicMembership.workspace_id == workspace_id,
            Topic.workspace_id == workspace_id,
            Topic.public_id == topic_id,
            Contact.workspace_id == workspace_id,
            Contact.deleted_at.is_(None),
        )
        .order_by(TopicMembership.id.desc())
    )
    rows = session.execute(query.where(older(TopicMembership.id, after)).limit(limit + 1)).all()
    members = [MemberRow(*row[1:]) for row in rows[:limit]]
    return members, next_cursor([row.id for row in rows], limit)


def memberships(session: Session, workspace_id: int, contact_id: str) -> list[MembershipRow]:
    """Return the topics of the live contact with this public id, by name."""
    rows = session.execute(
        select(
            Topic.public_id,
            Topic.name,
            TopicMembership.pending_doi_confirmation,
            TopicMembership.source,
            TopicMembership.created_at,
        )
        .join(TopicMembership, TopicMembership.topic_id == Topic.id)
        .join(Contact, Contact.id == TopicMembership.contact_id)
        .where(
            Topic.workspace_id == workspace_id,
            TopicMembership.workspace_id == workspace_id,
            Contact.workspace_id == workspace_id,
            and_(Contact.public_id == contact_id, Contact.deleted_at.is_(None)),
        )
        .order_by(Topic.name, Topic.id)
    )
    return [MembershipRow(*row) for row in rows]


def get_property(session: Session, workspace_id: int, public_id: str) -> PropertyRow | None:
    """Return the custom property with this public id, or None."""
    if not is_public_id(public_id):
        return None
    query = _properties(workspace_id).where(Property.public_id == public_id)
    row = session.execute(query).first()
    return PropertyRow(*row) if row else None


def list_properties(
    session: Session, workspace_id: int, after: str | None = None, limit: int = 200
) -> tuple[list[PropertyRow], str | None]:
    """Return a page of the custom properties, by key, and the cursor of the next page."""
    query = _properties(workspace_id).order_by(Property.key)
    place = read_cursor(after, 1) if after else None
    if place is not None and storable(place[0]):
        query = query.where(Property.key > place[0])
    rows = [PropertyRow(*row) for row in session.execute(query.limit(limit + 1))]
    return rows[:limit], write_cursor(rows[limit - 1].key) if len(rows) > limit else None


def topic_names(session: Session, workspace_id: int, public_ids: Collection[str]) -> dict[str, str]:
    """Return the names of topics by public id, in one statement; unknown ones are left out."""
    asked = [public_id for public_id in public_ids if is_public_id(public_id)]
    found = session.execute(
        select(Topic.public_id, Topic.name).where(
            Topic.workspace_id == workspace_id, Topic.public_id.in_(asked)
        )
    )
    return {row.public_id: row.name for row in found}


def _topics(workspace_id: int) -> Select[int, str, str, str | None, bool, datetime]:
    return select(
        Topic.id,
        Topic.public_id,
        Topic.name,
        Topic.description,
        Topic.require_double_opt_in,
        Topic.created_at,
    ).where(Topic.workspace_id == workspace_id)


def _properties(workspace_id: int) -> Select[int, str, str, str, str, datetime]:
    return select(
        Property.id,
        Property.public_id,
        Property.key,
        Property.label,
        Property.type,
        Property.created_at,
    ).where(Property.workspace_id == workspace_id)
