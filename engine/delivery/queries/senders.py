"""Reads of senders and sending domains."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from engine.core.db import older
from engine.core.ids import write_cursor
from engine.delivery.models import Sender, SendingDomain


@dataclass(frozen=True)
class SenderRow:
    """An address the workspace writes from. row_id stays inside; public_id is the `id`."""

    row_id: int
    public_id: str
    email: str
    name: str
    reply_to: str | None
    is_default: bool
    created_at: datetime


@dataclass(frozen=True)
class DomainRow:
    """A sending domain; verified_by: `attest` (the owner's word, audited), `dns`, or None."""

    row_id: int
    public_id: str
    domain: str
    verified_by: str | None
    verified_at: datetime | None
    created_at: datetime


def get_sender(
    session: Session, workspace_id: int, public_id: str, *, hold: bool = False
) -> SenderRow | None:
    """Return a sender, or None.

    hold: nobody else changes it until the caller's transaction ends.
    """
    return _sender(session, workspace_id, Sender.public_id == public_id, hold=hold)


def sender_of(session: Session, workspace_id: int, email: str) -> SenderRow | None:
    """Return the sender with this (normalised) address, or None."""
    return _sender(session, workspace_id, Sender.email == email)


def default_sender(session: Session, workspace_id: int) -> SenderRow | None:
    """Return the sender mail goes out from by default, or None."""
    return _sender(session, workspace_id, Sender.is_default.is_(True))


def page_senders(
    session: Session, workspace_id: int, after: str | None = None, limit: int = 50
) -> tuple[list[SenderRow], str | None]:
    """Return a page of senders, newest first, and the cursor of the next page."""
    query = select(Sender).where(Sender.workspace_id == workspace_id)
    query = query.where(older(Sender.id, after))
    found = session.scalars(query.order_by(Sender.id.desc()).limit(limit + 1)).all()
    rows = [sender_row(row) for row in found[:limit]]
    return rows, write_cursor(rows[-1].row_id) if len(found) > limit else None


def get_domain(session: Session, workspace_id: int, public_id: str) -> DomainRow | None:
    """Return a sending domain, or None."""
    return _domain(session, workspace_id, SendingDomain.public_id == public_id)


def domain_of(session: Session, workspace_id: int, domain: str) -> DomainRow | None:
    """Return the sending domain with this (ASCII, lower case) name, or None."""
    return _domain(session, workspace_id, SendingDomain.domain == domain)


def page_domains(
    session: Session, workspace_id: int, after: str | None = None, limit: int = 50
) -> tuple[list[DomainRow], str | None]:
    """Return a page of sending domains, newest first, and the cursor of the next page."""
    query = select(SendingDomain).where(SendingDomain.workspace_id == workspace_id)
    query = query.where(older(SendingDomain.id, after))
    found = session.scalars(query.order_by(SendingDomain.id.desc()).limit(limit + 1)).all()
    rows = [domain_row(row) for row in found[:limit]]
    return rows, write_cursor(rows[-1].row_id) if len(found) > limit else None


def _sender(
    session: Session, workspace_id: int, which: ColumnElement[bool], *, hold: bool = False
) -> SenderRow | None:
    query = select(Sender).where(Sender.workspace_id == workspace_id, which)
    if hold:
        query = query.with_for_update().execution_options(populate_existing=True)
    row = session.scalar(query)
    return None if row is None else sender_row(row)


def _domain(session: Session, workspace_id: int, which: ColumnElement[bool]) -> DomainRow | None:
    row = session.scalar(
        select(SendingDomain).where(SendingDomain.workspace_id == workspace_id, which)
    )
    return None if row is None else domain_row(row)


def sender_row(row: Sender) -> SenderRow:
    """Return the frozen form of a sender."""
    return SenderRow(
        row_id=row.id,
        public_id=row.public_id,
        email=row.email,
        name=row.name,
        reply_to=row.reply_to,
        is_default=row.is_default,
        created_at=row.created_at,
    )


def domain_row(row: SendingDomain) -> DomainRow:
    """Return the frozen form of a sending domain."""
    return DomainRow(
        row_id=row.id,
        public_id=row.public_id,
        domain=row.domain,
        verified_by=row.verified_by,
        verified_at=row.verified_at,
        created_at=row.created_at,
    )
