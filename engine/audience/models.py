"""Rows of audience: contacts, typed property values, topics, memberships, suppressions."""

from datetime import datetime
from typing import Final

from sqlalchemy import Boolean, Float, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from engine.core.db import (
    Base,
    Id,
    Instant,
    WorkspaceChild,
    WorkspaceRow,
    workspace_if_embedded,
    workspace_key,
    workspace_reference,
)

TEXT: Final = "text"
NUMBER: Final = "number"
BOOLEAN: Final = "boolean"
INSTANT: Final = "instant"
PROPERTY_TYPES: Final = (TEXT, NUMBER, BOOLEAN, INSTANT)
BOUNCED: Final = "bounced"
COMPLAINED: Final = "complained"
MANUAL: Final = "manual"
UNENGAGED: Final = "unengaged"
SUPPRESSION_REASONS: Final = (BOUNCED, COMPLAINED, MANUAL, UNENGAGED)
# Built-in fields that stand beside custom properties in the value rows (facts 2.1).
BUILT_IN: Final = ("email", "first_name", "last_name", "source")
# Those that a person is searched by.
SEARCHED: Final = ("email", "first_name", "last_name")
_NAMED: Final = text("key IN ('email', 'first_name', 'last_name')")


class Contact(WorkspaceRow, Base):
    """A person we may write to. email: trimmed and in lower case, the identity key (facts 3.1)."""

    __tablename__ = "contacts"
    __table_args__ = (
        workspace_key(),
        Index(
            "uq_contacts_workspace_id_email",
            "workspace_id",
            "email",
            unique=True,
            sqlite_where=text("deleted_at IS NULL AND email IS NOT NULL"),
            postgresql_where=text("deleted_at IS NULL AND email IS NOT NULL"),
        ),
        Index(
            "uq_contacts_workspace_id_external_id",
            "workspace_id",
            "external_id",
            unique=True,
            sqlite_where=text("deleted_at IS NULL AND external_id IS NOT NULL"),
            postgresql_where=text("deleted_at IS NULL AND external_id IS NOT NULL"),
        ),
        # The search for a person; by bytes on PostgreSQL too.
        Index(
            "ix_contacts_begins",
            "workspace_id",
            "external_id",
            sqlite_where=text("external_id IS NOT NULL"),
            postgresql_where=text("external_id IS NOT NULL"),
            postgresql_ops={"external_id": "varchar_pattern_ops"},
        ),
        # The few that wait for the purge.
        Index(
            "ix_contacts_deleted",
            "workspace_id",
            "id",
            sqlite_where=text("deleted_at IS NOT NULL"),
            postgresql_where=text("deleted_at IS NOT NULL"),
        ),
        # Every new contact asks for the opt-out of a former one with its address.
        Index(
            "ix_contacts_deleted_email",
            "workspace_id",
            "email",
            sqlite_where=text("deleted_at IS NOT NULL"),
            postgresql_where=text("deleted_at IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    email: Mapped[str | None] = mapped_column(String(254))
    external_id: Mapped[str | None] = mapped_column(String(200))
    first_name: Mapped[str | None] = mapped_column(String(200))
    last_name: Mapped[str | None] = mapped_column(String(200))
    language: Mapped[str | None] = mapped_column(String(10))
    timezone: Mapped[str | None] = mapped_column(String(60))
    source: Mapped[str] = mapped_column(String(20))
    has_opened: Mapped[bool] = mapped_column(Boolean, default=False)
    has_clicked: Mapped[bool] = mapped_column(Boolean, default=False)
    unsubscribed_at: Mapped[datetime | None] = mapped_column(Instant)
    deleted_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class Property(WorkspaceRow, Base):
    """A custom property of the workspace's contacts. type: text, number, boolean or instant."""

    __tablename__ = "properties"
    __table_args__ = (workspace_key(), UniqueConstraint("workspace_id", "key"))

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    key: Mapped[str] = mapped_column(String(100))
    label: Mapped[str] = mapped_column(String(200))
    type: Mapped[str] = mapped_column(String(10))
    created_at: Mapped[datetime] = mapped_column(Instant)


class ContactPropertyValue(WorkspaceChild, Base):
    """One comparable value of a contact, built-in fields included, in typed columns.

    text is the value as JavaScript's String() spells it and folded its lower case; number, boolean
    and instant are filled at write time where the value is or reads as one, so that no condition
    casts. A missing value has no row.
    """

    __tablename__ = "contact_property_values"
    __table_args__ = (
        workspace_if_embedded(),
        UniqueConstraint("workspace_id", "contact_id", "key"),
        workspace_reference("contact_id", "contacts"),
        Index("ix_contact_property_values_number", "workspace_id", "key", "number"),
        Index("ix_contact_property_values_instant", "workspace_id", "key", "instant"),
        # The search for a person; by bytes on PostgreSQL too.
        Index(
            "ix_contact_property_values_names",
            "workspace_id",
            "folded",
            sqlite_where=_NAMED,
            postgresql_where=_NAMED,
            postgresql_ops={"folded": "text_pattern_ops"},
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    contact_id: Mapped[int] = mapped_column(Id)
    key: Mapped[str] = mapped_column(String(100))
    type: Mapped[str] = mapped_column(String(10))
    text: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text)
    number: Mapped[float | None] = mapped_column(Float)
    boolean: Mapped[bool | None] = mapped_column(Boolean)
    instant: Mapped[datetime | None] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class Topic(WorkspaceRow, Base):
    """Something people subscribe to. New topics ask for double opt-in (facts 3.4)."""

    __tablename__ = "topics"
    __table_args__ = (workspace_key(),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str | None] = mapped_column(Text)
    require_double_opt_in: Mapped[bool] = mapped_column(Boolean, default=True)
    created_at: Mapped[datetime] = mapped_column(Instant)


class TopicMembership(WorkspaceRow, Base):
    """A contact in a topic; the row is the fact. Pending ones still owe a confirmation."""

    __tablename__ = "topic_memberships"
    __table_args__ = (
        UniqueConstraint("workspace_id", "topic_id", "contact_id"),
        workspace_reference("contact_id", "contacts"),
        workspace_reference("topic_id", "topics"),
        Index("ix_topic_memberships_workspace_id_contact_id", "workspace_id", "contact_id"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    topic_id: Mapped[int] = mapped_column(Id)
    contact_id: Mapped[int] = mapped_column(Id)
    pending_doi_confirmation: Mapped[bool] = mapped_column(Boolean, default=False)
    source: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime] = mapped_column(Instant)


class Suppression(WorkspaceRow, Base):
    """An address that gets no mail, whoever it belongs to (facts 3.6). email: trimmed, lower case.

    bounced, complained and manual block every mail; unengaged blocks marketing mail alone.
    """

    __tablename__ = "suppressions"
    __table_args__ = (
        workspace_key(),
        UniqueConstraint("workspace_id", "email"),
        # By bytes on PostgreSQL too, for the search by what an address begins with.
        Index(
            "ix_suppressions_begins",
            "workspace_id",
            "email",
            postgresql_ops={"email": "varchar_pattern_ops"},
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    email: Mapped[str] = mapped_column(String(254))
    reason: Mapped[str] = mapped_column(String(20))
    source: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime] = mapped_column(Instant)


class OptOut(WorkspaceRow, Base):
    """An address whose reader ended all marketing mail; outlives the contact and names nobody.

    address_hash: `addresses.opt_out_hash`. Goes when an effective subscription takes it back.
    """

    __tablename__ = "opt_outs"
    __table_args__ = (UniqueConstraint("workspace_id", "address_hash"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    address_hash: Mapped[str] = mapped_column(String(32))
    opted_out_at: Mapped[datetime] = mapped_column(Instant)
