"""Reads of the suppression list, and whether an address or a person may be mailed (facts 3.6)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, String, func, select
from sqlalchemy.orm import Session

from engine.audience.addresses import address_key
from engine.audience.models import Contact, Suppression
from engine.core.db import Id, batch_table, next_cursor, older
from engine.core.ids import is_public_id
from engine.core.text import normalise_email


@dataclass(frozen=True)
class ReachRow:
    """What decides whether a person may be mailed now. timezone: IANA, None for the workspace's."""

    unsubscribed_at: datetime | None
    timezone: str | None


@dataclass(frozen=True)
class SuppressionRow:
    """A blocked address. row_id stays inside; public_id is the `id`."""

    row_id: int
    public_id: str
    email: str
    reason: str
    source: str
    created_at: datetime


def get_suppression(session: Session, workspace_id: int, public_id: str) -> SuppressionRow | None:
    """Return one entry of the list, or None."""
    if not is_public_id(public_id):
        return None
    row = session.execute(
        _suppressions(workspace_id).where(Suppression.public_id == public_id)
    ).first()
    return SuppressionRow(*row) if row else None


def page_suppressions(
    session: Session,
    workspace_id: int,
    *,
    q: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[SuppressionRow], str | None]:
    """Return a page of the list, newest first, and the cursor of the next page.

    q: what the address begins with, in any case.
    """
    query = _suppressions(workspace_id).where(older(Suppression.id, after))
    if q is not None and (begins := normalise_email(q)):
        query = query.where(func.substr(Suppression.email, 1, len(begins)) == begins)
    found = session.execute(query.order_by(Suppression.id.desc()).limit(limit + 1))
    rows = [SuppressionRow(*row) for row in found]
    return rows[:limit], next_cursor([row.row_id for row in rows], limit)


def suppression_key(address: str) -> str:
    """Return the spelling an address is suppressed under: trimmed, lower case, domain in ASCII."""
    # Nearly every address is ASCII already, and this is asked for every mail.
    return normalise_email(address) if address.isascii() else address_key(address)


def suppressed(
    session: Session, keys: Collection[tuple[int, str]]
) -> Mapping[tuple[int, str], str]:
    """Return the reasons of suppressed addresses by (workspace row, key), in one statement.

    keys: (workspace row id, `suppression_key` of the address), of any workspace.
    """
    if not keys:
        return {}
    rows = [{"workspace_id": workspace_id, "email": email} for workspace_id, email in keys]
    batch = batch_table(session, {"workspace_id": Id, "email": String()}, rows)
    found = session.execute(
        select(Suppression.workspace_id, Suppression.email, Suppression.reason).join(
            batch,
            (batch.c.workspace_id == Suppression.workspace_id)
            & (batch.c.email == Suppression.email),
        )
    )
    return {(row.workspace_id, row.email): row.reason for row in found}


def reach(
    session: Session, contact_ids: Collection[int], *, lock: bool = False
) -> Mapping[int, ReachRow]:
    """Return opt-out and zone of contacts by row id, deleted ones included, in one statement.

    lock: hold the rows to the end of the transaction, in the order of their ids, so that whoever
    mails the same people next waits and sees what was queued (FOR NO KEY UPDATE).
    """
    if not contact_ids:
        return {}
    query = select(Contact.id, Contact.unsubscribed_at, Contact.timezone).where(
        Contact.id.in_(contact_ids)
    )
    if lock:
        query = query.order_by(Contact.id).with_for_update(key_share=True)
    return {row.id: ReachRow(row.unsubscribed_at, row.timezone) for row in session.execute(query)}


def _suppressions(workspace_id: int) -> Select[*tuple[Any, ...]]:
    return select(
        Suppression.id,
        Suppression.public_id,
        Suppression.email,
        Suppression.reason,
        Suppression.source,
        Suppression.created_at,
    ).where(Suppression.workspace_id == workspace_id)
