"""Reads of the audit log for pages: a page of entries, and who the actors are by name."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from engine.accounts.models import ApiKey, Membership, User
from engine.core.audit import AuditEntry, Scalar
from engine.core.db import next_cursor, older

USER = "user:"
KEY = "key:"


@dataclass(frozen=True)
class Entry:
    """One line of the audit log. actor, resource_id: public ids; details: flat."""

    at: datetime
    actor: str
    action: str
    resource: str
    resource_id: str | None
    details: Mapping[str, Scalar]


@dataclass(frozen=True)
class Filter:
    """What a reader looks for; None leaves a part open. since is included, until is not.

    resource_id: public id of the thing that was acted on.
    """

    action: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    resource_id: str | None = None


def page_entries(
    session: Session, workspace_id: int, wanted: Filter, after: str | None = None, limit: int = 50
) -> tuple[Sequence[Entry], str | None]:
    """Return a page of entries, newest first, and the cursor of the next page.

    wanted.action: the beginning of a stored name; wanted.actor: part of a name or an address, or
    an actor as it is stored. A cursor that never came from here shows the first page.
    """
    statement = select(AuditEntry).where(AuditEntry.workspace_id == workspace_id)
    statement = statement.where(older(AuditEntry.id, after))
    statement = statement.where(*_conditions(session, workspace_id, wanted))
    rows = session.scalars(statement.order_by(AuditEntry.id.desc()).limit(limit + 1)).all()
    following = next_cursor([row.id for row in rows], limit)
    return [_entry(row) for row in rows[:limit]], following


def names(session: Session, workspace_id: int, actors: Collection[str]) -> Mapping[str, str]:
    """Return the names of people and keys among `actors`, in two statements."""
    users = [actor.removeprefix(USER) for actor in actors if actor.startswith(USER)]
    keys = [actor.removeprefix(KEY) for actor in actors if actor.startswith(KEY)]
    found: dict[str, str] = {}
    if users:
        people = select(User.public_id, User.name, User.email).where(User.public_id.in_(users))
        for public_id, name, email in session.execute(people):
            found[USER + public_id] = name or email
    if keys:
        programs = select(ApiKey.public_id, ApiKey.name).where(
            ApiKey.workspace_id == workspace_id, ApiKey.public_id.in_(keys)
        )
        for public_id, name in session.execute(programs):
            found[KEY + public_id] = name
    return found


def _conditions(
    session: Session, workspace_id: int, wanted: Filter
) -> Sequence[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.action:
        conditions.append(AuditEntry.action.startswith(wanted.action, autoescape=True))
    if wanted.actor:
        conditions.append(AuditEntry.actor.in_(_actors(session, workspace_id, wanted.actor)))
    if wanted.since:
        conditions.append(AuditEntry.created_at >= wanted.since)
    if wanted.until:
        conditions.append(AuditEntry.created_at < wanted.until)
    if wanted.resource_id:
        conditions.append(AuditEntry.resource_id == wanted.resource_id)
    return conditions


def _actors(session: Session, workspace_id: int, text: str) -> Sequence[str]:
    """Return the stored actors that a reader may mean by `text`."""
    people = (
        select(User.public_id)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.workspace_id == workspace_id,
            or_(
                User.email.icontains(text, autoescape=True),
                User.name.icontains(text, autoescape=True),
            ),
        )
    )
    programs = select(ApiKey.public_id).where(
        ApiKey.workspace_id == workspace_id, ApiKey.name.icontains(text, autoescape=True)
    )
    return [
        text,
        *(USER + public_id for public_id in session.scalars(people)),
        *(KEY + public_id for public_id in session.scalars(programs)),
    ]


def _entry(row: AuditEntry) -> Entry:
    return Entry(
        row.created_at, row.actor, row.action, row.resource, row.resource_id, dict(row.details)
    )
