"""Reads of accounts for pages, the command line and other rooms: frozen rows, never a write."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from engine.accounts.models import ApiKey, Membership, User, UserSession, Workspace
from engine.core.db import next_cursor, older, table_of
from engine.core.text import normalise_email


@dataclass(frozen=True)
class Person:
    """A signed-in person in one workspace. timezone: the workspace's IANA name.

    language: de or en, the person's own choice; None leaves it to the browser. suspended_at: since
    when the operator holds the workspace back, or None.
    """

    user_id: int
    public_id: str
    email: str
    name: str
    language: str | None
    workspace_id: int
    workspace_public_id: str
    workspace_name: str
    role: str
    timezone: str
    seen_at: datetime | None = None
    suspended_at: datetime | None = None


@dataclass(frozen=True)
class KeyHolder:
    """A program with a valid API key. last_used_at: as stored, see `service.note_key_use`."""

    key_id: int
    public_id: str
    workspace_id: int
    scopes: frozenset[str]
    last_used_at: datetime | None = None


@dataclass(frozen=True)
class KeyLine:
    """An API key in a list. prefix: its first characters; the rest is known to nobody."""

    public_id: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created_by: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True)
class UserLine:
    """A member of a workspace in a list."""

    public_id: str
    email: str
    name: str
    role: str
    created_at: datetime
    last_signed_in_at: datetime | None


@dataclass(frozen=True)
class WorkspaceLine:
    """A workspace as other rooms and the command line see it."""

    id: int
    public_id: str
    name: str
    timezone: str
    language: str
    suspended_at: datetime | None


@dataclass(frozen=True)
class WorkspaceSettings:
    """What a workspace has set for itself; see `service.Limits`."""

    public_id: str
    name: str
    timezone: str
    language: str
    mails_per_day: int | None
    quiet_from: str | None
    quiet_until: str | None
    retention_days: int
    suspended_at: datetime | None
    created_at: datetime


@dataclass(frozen=True)
class Keeping:
    """How many days a workspace keeps what is over."""

    row_id: int
    retention_days: int


def person_of_session(session: Session, token_hash: str) -> tuple[Person, UserSession] | None:
    """Return the person and the row behind a session token's hash, revoked or not.

    None for an unknown token and for a person who is no longer a member.
    """
    found = session.execute(
        _people(UserSession)
        .join(UserSession, UserSession.workspace_id == Workspace.id)
        .where(UserSession.token_hash == token_hash, UserSession.user_id == User.id)
    ).first()
    return (_person(found, found.UserSession.seen_at), found.UserSession) if found else None


def first_membership(session: Session, user_id: int) -> Person | None:
    """Return the person in the workspace joined first; None where the user is a member of none."""
    found = session.execute(
        _people().where(User.id == user_id).order_by(Membership.id).limit(1)
    ).first()
    return _person(found, None) if found else None


def list_keys(
    session: Session, workspace_id: int, after: str | None = None, limit: int = 50
) -> tuple[Sequence[KeyLine], str | None]:
    """Return a page of keys, newest first, and the cursor of the next page."""
    statement = select(ApiKey).where(ApiKey.workspace_id == workspace_id)
    statement = statement.where(older(ApiKey.id, after))
    rows = session.scalars(statement.order_by(ApiKey.id.desc()).limit(limit + 1)).all()
    cursor = next_cursor([row.id for row in rows], limit)
    return [_key_line(row) for row in rows[:limit]], cursor


def get_key(session: Session, workspace_id: int, public_id: str) -> KeyLine | None:
    """Return one key of the workspace."""
    row = session.scalar(
        select(ApiKey).where(ApiKey.workspace_id == workspace_id, ApiKey.public_id == public_id)
    )
    return _key_line(row) if row else None


def list_users(session: Session, workspace_id: int) -> Sequence[UserLine]:
    """Return the members of the workspace, by address: tens of them, not thousands."""
    rows = session.execute(
        select(User, Membership.role)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.workspace_id == workspace_id)
        .order_by(User.email)
    ).all()
    return [
        UserLine(
            user.public_id, user.email, user.name, role, user.created_at, user.last_signed_in_at
        )
        for user, role in rows
    ]


def find_user(session: Session, email: str) -> str | None:
    """Return the public id of the account with this address, whatever its workspaces."""
    return session.scalar(select(User.public_id).where(User.email == normalise_email(email)))


def find_workspaces(session: Session, text: str | None = None) -> Sequence[WorkspaceLine]:
    """Return workspaces whose public id or name is `text`; all of them without it."""
    statement = select(Workspace).order_by(Workspace.id)
    if text is not None:
        named = func.trim(Workspace.name) == text.strip()
        statement = statement.where(or_(Workspace.public_id == text, named))
    return [_workspace_line(row) for row in session.scalars(statement)]


def get_workspace(session: Session, workspace_id: int) -> WorkspaceLine | None:
    """Return one workspace by its row id."""
    row = session.get(Workspace, workspace_id)
    return _workspace_line(row) if row else None


def get_settings(session: Session, workspace_id: int, *, hold: bool = False) -> WorkspaceSettings:
    """Return what a workspace has set for itself. hold: nobody else changes it meanwhile."""
    statement = select(Workspace).where(Workspace.id == workspace_id)
    if hold:
        statement = statement.with_for_update(key_share=True)
    return workspace_settings(session.scalars(statement).one())


def suspended() -> Select[Any]:
    """Return the query of the row ids of suspended workspaces: few, and most often none.

    For `column.not_in(suspended())` in a claim: it is read once, and only where something is due.
    """
    row = table_of(Workspace).c
    return select(row.id).where(row.suspended_at.is_not(None))


def workspace_settings(row: Workspace) -> WorkspaceSettings:
    """Return a workspace's settings from its row."""
    return WorkspaceSettings(
        row.public_id,
        row.name,
        row.timezone,
        row.language,
        row.mails_per_day,
        row.quiet_from,
        row.quiet_until,
        row.retention_days,
        row.suspended_at,
        row.created_at,
    )


def _people(*more: Any) -> Select[Any]:
    return (
        select(User, Workspace, Membership.role, *more)
        .join(Membership, Membership.user_id == User.id)
        .join(Workspace, Workspace.id == Membership.workspace_id)
    )


def _person(found: Any, seen_at: datetime | None) -> Person:
    user, workspace = found.User, found.Workspace
    return Person(
        user_id=user.id,
        public_id=user.public_id,
        email=user.email,
        name=user.name,
        language=user.language,
        workspace_id=workspace.id,
        workspace_public_id=workspace.public_id,
        workspace_name=workspace.name,
        role=found.role,
        timezone=workspace.timezone,
        seen_at=seen_at,
        suspended_at=workspace.suspended_at,
    )


def _key_line(row: ApiKey) -> KeyLine:
    return KeyLine(
        row.public_id,
        row.name,
        row.prefix,
        tuple(row.scopes),
        row.created_by,
        row.created_at,
        row.last_used_at,
        row.revoked_at,
    )


def _workspace_line(row: Workspace) -> WorkspaceLine:
    return WorkspaceLine(
        row.id, row.public_id, row.name, row.timezone, row.language, row.suspended_at
    )


def keeping(session: Session) -> list[Keeping]:
    """Return how long each workspace keeps what is over; for the sweeps, which see them all."""
    row = Workspace
    found = session.execute(select(row.id, row.retention_days).order_by(row.id))
    return [Keeping(*each) for each in found]
