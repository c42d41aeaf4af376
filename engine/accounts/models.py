"""Rows of accounts: workspaces, users, memberships, sessions, keys, secrets, requests, views."""

from datetime import datetime
from typing import Final

from sqlalchemy import ForeignKey, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from engine.core.db import Base, Id, Instant, JsonObject, WorkspaceRow, json_type, workspace_key

OWNER: Final = "owner"
ADMIN: Final = "admin"
EDITOR: Final = "editor"
SUPPORT: Final = "support"
ROLES: Final = (OWNER, ADMIN, EDITOR, SUPPORT)
# Of a request.
PENDING: Final = "pending"
GRANTED: Final = "granted"
DENIED: Final = "denied"
WITHDRAWN: Final = "withdrawn"
APPROVAL_STATUSES: Final = (PENDING, GRANTED, DENIED, WITHDRAWN)


class Workspace(Base):
    """One customer of the installation (the seeds' tenant). timezone: IANA; language: de, en.

    mails_per_day: most marketing mails a person gets on one of their days, None for any number.
    quiet_from, quiet_until: hours without marketing mail as HH:MM in the person's zone, both or
    none (decision A17). retention_days: how long finished runs, events and logs are kept.
    """

    __tablename__ = "workspaces"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    timezone: Mapped[str] = mapped_column(String(60), default="UTC")
    language: Mapped[str] = mapped_column(String(10), default="en")
    mails_per_day: Mapped[int | None] = mapped_column(Integer)
    quiet_from: Mapped[str | None] = mapped_column(String(5))
    quiet_until: Mapped[str | None] = mapped_column(String(5))
    retention_days: Mapped[int] = mapped_column(Integer, default=365, server_default="365")
    suspended_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)


class User(Base):
    """A person who signs in; may belong to several workspaces. email: trimmed, lower case."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    name: Mapped[str] = mapped_column(String(200), default="")
    password_hash: Mapped[str] = mapped_column(String(200))
    language: Mapped[str | None] = mapped_column(String(10))
    created_at: Mapped[datetime] = mapped_column(Instant)
    last_signed_in_at: Mapped[datetime | None] = mapped_column(Instant)


class Membership(WorkspaceRow, Base):
    """A user's role in a workspace: owner, admin, editor, support (decision G10)."""

    __tablename__ = "memberships"
    __table_args__ = (UniqueConstraint("workspace_id", "user_id"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    user_id: Mapped[int] = mapped_column(Id, ForeignKey("users.id"), index=True)
    role: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime] = mapped_column(Instant)


class UserSession(WorkspaceRow, Base):
    """A signed-in browser. The cookie bears a secret, the row its hash; revoking ends it."""

    __tablename__ = "user_sessions"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    user_id: Mapped[int] = mapped_column(Id, ForeignKey("users.id"), index=True)
    ip_address: Mapped[str | None] = mapped_column(String(45))
    user_agent: Mapped[str | None] = mapped_column(String(300))
    created_at: Mapped[datetime] = mapped_column(Instant)
    seen_at: Mapped[datetime] = mapped_column(Instant)
    revoked_at: Mapped[datetime | None] = mapped_column(Instant)


class ApiKey(WorkspaceRow, Base):
    """An API key, stored hashed. prefix: its first characters, shown to people."""

    __tablename__ = "api_keys"
    __table_args__ = (workspace_key(),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    prefix: Mapped[str] = mapped_column(String(20))
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[list[str]] = mapped_column(json_type())
    created_by: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime] = mapped_column(Instant)
    last_used_at: Mapped[datetime | None] = mapped_column(Instant)
    revoked_at: Mapped[datetime | None] = mapped_column(Instant)


class IdempotencyRecord(WorkspaceRow, Base):
    """The first answer to a POST that bore an Idempotency-Key; kept for a day."""

    __tablename__ = "idempotency_records"
    __table_args__ = (
        UniqueConstraint("workspace_id", "key"),
        Index("ix_idempotency_records_created_at", "created_at"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    key: Mapped[str] = mapped_column(String(255))
    request_hash: Mapped[str] = mapped_column(String(64))
    status_code: Mapped[int | None] = mapped_column(Integer)
    content_type: Mapped[str | None] = mapped_column(String(100))
    answer: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Instant)


class Secret(WorkspaceRow, Base):
    """A secret that outbound calls need, sealed with the installation's key.

    kind: signing (signs the body of a webhook) or address (is itself the address, as of Slack).
    hint: its last characters, shown to people.
    """

    __tablename__ = "secrets"
    __table_args__ = (workspace_key(), UniqueConstraint("workspace_id", "name"))

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(20))
    sealed: Mapped[str] = mapped_column(Text)
    hint: Mapped[str] = mapped_column(String(8))
    created_by: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime] = mapped_column(Instant)
    last_used_at: Mapped[datetime | None] = mapped_column(Instant)


class Approval(WorkspaceRow, Base):
    """Somebody without the right asks somebody who has it (decision G10).

    kind: what would be done (automation.activate, automation.publish); wanted: with which choices;
    content_hash: of what was asked for, so that nothing else is granted.
    """

    __tablename__ = "approvals"
    __table_args__ = (
        workspace_key(),
        Index("ix_approvals_workspace_id_status_id", "workspace_id", "status", "id"),
        Index(
            "uq_approvals_pending",
            "workspace_id",
            "kind",
            "resource_id",
            unique=True,
            sqlite_where=text("status = 'pending'"),
            postgresql_where=text("status = 'pending'"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    kind: Mapped[str] = mapped_column(String(40))
    resource: Mapped[str] = mapped_column(String(40))
    resource_id: Mapped[str] = mapped_column(String(40))
    wanted: Mapped[JsonObject] = mapped_column(json_type())
    content_hash: Mapped[str] = mapped_column(String(64))
    note: Mapped[str | None] = mapped_column(String(1000))
    status: Mapped[str] = mapped_column(String(20))
    answer: Mapped[str | None] = mapped_column(String(1000))
    asked_by: Mapped[str] = mapped_column(String(120))
    asked_at: Mapped[datetime] = mapped_column(Instant)
    decided_by: Mapped[str | None] = mapped_column(String(120))
    decided_at: Mapped[datetime | None] = mapped_column(Instant)


class SavedView(WorkspaceRow, Base):
    """The filters of a list under a name, for one person. query: as it stands in the address."""

    __tablename__ = "saved_views"
    __table_args__ = (
        workspace_key(),
        UniqueConstraint("workspace_id", "user_id", "area", "name"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    user_id: Mapped[int] = mapped_column(Id, ForeignKey("users.id"), index=True)
    area: Mapped[str] = mapped_column(String(40))
    name: Mapped[str] = mapped_column(String(80))
    query: Mapped[str] = mapped_column(String(2000))
    created_at: Mapped[datetime] = mapped_column(Instant)
