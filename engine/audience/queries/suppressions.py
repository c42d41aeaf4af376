"""Reads of the suppression list, and whether an address or a person may be mailed (facts 3.6)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import String, select
from sqlalchemy.orm import Session

from engine.audience.addresses import address_key
from engine.audience.models import Contact, Suppression
from engine.core.db import Id, batch_table
from engine.core.text import normalise_email


@dataclass(frozen=True)
class ReachRow:
    """What decides whether a person may be mailed now. timezone: IANA, None for the workspace's."""

    unsubscribed_at: datetime | None
    timezone: str | None


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
