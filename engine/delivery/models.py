"""Rows of delivery: templates, senders, sending domains, sends and the messages as sent."""

from datetime import datetime
from typing import Final

from sqlalchemy import Boolean, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from engine.core.db import (
    Base,
    Id,
    Instant,
    JsonObject,
    WorkspaceChild,
    WorkspaceRow,
    json_type,
    workspace_if_embedded,
    workspace_key,
    workspace_reference,
)

QUEUED: Final = "queued"
SENT: Final = "sent"
FAILED: Final = "failed"
DELIVERED: Final = "delivered"
OPENED: Final = "opened"
CLICKED: Final = "clicked"
BOUNCED: Final = "bounced"
COMPLAINED: Final = "complained"
STATUSES: Final = (QUEUED, SENT, DELIVERED, OPENED, CLICKED, BOUNCED, COMPLAINED, FAILED)

KIND_AUTOMATION: Final = "automation"
POOL_TRANSACTIONAL: Final = "transactional"
POOL_CAMPAIGN: Final = "campaign"
MARKETING: Final = "marketing"
SERVICE: Final = "service"
PURPOSES: Final = (MARKETING, SERVICE)


class Template(WorkspaceRow, Base):
    """A mail template in Liquid over HTML or MJML (decision C13).

    html or mjml is what people wrote; rendered_html is what is personalised: MJML compiled, CSS
    inlined. text None: the text part is derived from the HTML.
    """

    __tablename__ = "templates"
    __table_args__ = (workspace_key(),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    subject: Mapped[str] = mapped_column(String(500))
    html: Mapped[str | None] = mapped_column(Text)
    mjml: Mapped[str | None] = mapped_column(Text)
    rendered_html: Mapped[str] = mapped_column(Text)
    text: Mapped[str | None] = mapped_column(Text)
    purpose: Mapped[str] = mapped_column(String(20), default=MARKETING)
    allow_repeat: Mapped[bool | None] = mapped_column(Boolean)
    version: Mapped[int] = mapped_column(Integer, default=1)
    deleted_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class Sender(WorkspaceRow, Base):
    """An address the workspace may write from; exactly one is the default."""

    __tablename__ = "senders"
    __table_args__ = (
        workspace_key(),
        UniqueConstraint("workspace_id", "email"),
        Index(
            "uq_senders_default",
            "workspace_id",
            unique=True,
            sqlite_where=text("is_default"),
            postgresql_where=text("is_default"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    email: Mapped[str] = mapped_column(String(254))
    name: Mapped[str] = mapped_column(String(200), default="")
    reply_to: Mapped[str | None] = mapped_column(String(254))
    is_default: Mapped[bool] = mapped_column(Boolean, default=False)
    created_at: Mapped[datetime] = mapped_column(Instant)


class SendingDomain(WorkspaceRow, Base):
    """A domain the workspace may send from, and how that was shown. verified_by: dns or attest."""

    __tablename__ = "sending_domains"
    __table_args__ = (workspace_key(), UniqueConstraint("workspace_id", "domain"))

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    domain: Mapped[str] = mapped_column(String(253))
    verified_by: Mapped[str | None] = mapped_column(String(10))
    verified_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)


class EmailSend(WorkspaceChild, Base):
    """One mail to one person, of any kind (decision C1). Delivery is its only writer.

    kind: campaign, automation, transactional, agent, test. pool: transactional or campaign.
    purpose: its template's when it was queued. context: what the template may read beside the
    contact (event, order). A queued row with a lease is claimed; handed_over_at is committed just
    before the body leaves (decision C3). due_at is what the sweep reads: the next try, or the end
    of the lease while claimed.
    """

    __tablename__ = "email_sends"
    __table_args__ = (
        workspace_key(),
        workspace_if_embedded(),
        UniqueConstraint("workspace_id", "dedupe_key"),
        workspace_reference("contact_id", "contacts"),
        workspace_reference("template_id", "templates"),
        Index(
            "ix_email_sends_due",
            "pool",
            "due_at",
            "id",
            sqlite_where=text("status = 'queued'"),
            postgresql_where=text("status = 'queued'"),
        ),
        # What a person got lately is asked before every mail (decision A17).
        Index(
            "ix_email_sends_workspace_id_contact_id_queued_at",
            "workspace_id",
            "contact_id",
            "queued_at",
        ),
        # For the pages of mails in the rarer statuses. A mail that is queued and sent is never
        # entered here; every index on a column that its way changes would be written four times.
        Index(
            "ix_email_sends_ended",
            "workspace_id",
            "status",
            "id",
            sqlite_where=text("status <> 'queued' AND status <> 'sent'"),
            postgresql_where=text("status <> 'queued' AND status <> 'sent'"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    pool: Mapped[str] = mapped_column(String(20))
    purpose: Mapped[str | None] = mapped_column(String(20))
    campaign_id: Mapped[int | None] = mapped_column(Id)
    contact_id: Mapped[int | None] = mapped_column(Id)
    template_id: Mapped[int | None] = mapped_column(Id)
    subject_override: Mapped[str | None] = mapped_column(String(500))
    context: Mapped[JsonObject] = mapped_column(json_type())
    to_email: Mapped[str] = mapped_column(String(254))
    from_email: Mapped[str] = mapped_column(String(254))
    from_name: Mapped[str] = mapped_column(String(200))
    reply_to: Mapped[str | None] = mapped_column(String(254))
    status: Mapped[str] = mapped_column(String(20))
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    dedupe_key: Mapped[str] = mapped_column(String(120))
    ab_variant: Mapped[str | None] = mapped_column(String(1))
    message_id: Mapped[str | None] = mapped_column(String(200))
    provider_reply: Mapped[str | None] = mapped_column(String(500))
    error_code: Mapped[str | None] = mapped_column(String(60))
    error_message: Mapped[str | None] = mapped_column(String(500))
    queued_at: Mapped[datetime] = mapped_column(Instant)
    due_at: Mapped[datetime] = mapped_column(Instant)
    lease_until: Mapped[datetime | None] = mapped_column(Instant)
    handed_over_at: Mapped[datetime | None] = mapped_column(Instant)
    sent_at: Mapped[datetime | None] = mapped_column(Instant)
    failed_at: Mapped[datetime | None] = mapped_column(Instant)


class SentMessage(WorkspaceChild, Base):
    """The message as sent, written in the commit that hands it over. raw: the bytes as text."""

    __tablename__ = "sent_messages"
    __table_args__ = (
        workspace_if_embedded(),
        UniqueConstraint("workspace_id", "send_id"),
        workspace_reference("send_id", "email_sends"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    send_id: Mapped[int] = mapped_column(Id)
    subject: Mapped[str] = mapped_column(Text)
    html: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    headers: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Instant)
