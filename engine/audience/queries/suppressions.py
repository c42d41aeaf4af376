"""Reads of the suppression list, and whether an address or a person may be mailed (facts 3.6)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Executable, Select, String, select
from sqlalchemy.orm import Session

from engine.audience.addresses import address_key
from engine.audience.models import Contact, Suppression
from engine.core.db import (
    Id,
    Prepared,
    among_bound,
    begins_with,
    many,
    next_cursor,
    older,
    packed,
    rows_table,
    scope_of,
    table_of,
    within_scope,
)
from engine.core.ids import is_public_id
from engine.core.text import normalise_email, storable


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

    q: what the address begins with, in any case; beyond ASCII the whole address.
    """
    query = _suppressions(workspace_id)
    place: ColumnElement[int] = Suppression.id.expression
    if q is not None and not storable(q):
        return [], None
    if q is not None and (begins := normalise_email(q)):
        query = query.where(_begins(session, begins))
        # The few found are sorted: what is in order is the whole list.
        place = Suppression.id + 0
    query = query.where(older(place, after)).order_by(place.desc())
    found = session.execute(query.limit(limit + 1))
    rows = [SuppressionRow(*row) for row in found]
    return rows[:limit], next_cursor([row.row_id for row in rows], limit)


def _begins(session: Session, begins: str) -> ColumnElement[bool]:
    if not begins.isascii():
        # No stored address is so spelt: an international domain is known whole or not at all.
        return Suppression.email == address_key(begins)
    return begins_with(session, Suppression.email, begins)


def suppression_key(address: str) -> str:
    """Return the spelling an address is suppressed under: trimmed, lower case, domain in ASCII."""
    # Nearly every address is ASCII already, and this is asked for every mail.
    return normalise_email(address) if address.isascii() else address_key(address)


def blocked_for(session: Session, workspace_id: int, address: str) -> str | None:
    """Return why an address is on the suppression list of a workspace, or None; for pages."""
    return session.scalar(
        select(Suppression.reason).where(
            Suppression.workspace_id == workspace_id,
            Suppression.email == suppression_key(address),
        )
    )


def suppressed(
    session: Session, keys: Collection[tuple[int, str]]
) -> Mapping[tuple[int, str], str]:
    """Return the reasons of suppressed addresses by (workspace row, key), in one statement.

    keys: (workspace row id, `suppression_key` of the address), of any workspace.
    """
    if not keys:
        return {}
    rows = [{"workspace_id": workspace_id, "email": email} for workspace_id, email in keys]
    found = _SUPPRESSED.run(session, rows=packed(session, rows), scope=scope_of(session)).all()
    return {(workspace_id, email): reason for workspace_id, email, reason in found}


def _prepare_suppressed(dialect: str) -> Executable:
    row = table_of(Suppression)
    rows = rows_table(dialect, {"workspace_id": Id, "email": String()})
    same = (rows.c.workspace_id == row.c.workspace_id) & (rows.c.email == row.c.email)
    found = select(row.c.workspace_id, row.c.email, row.c.reason).join_from(row, rows, same)
    return found.where(within_scope(row.c.workspace_id))


_SUPPRESSED: Final = Prepared(_prepare_suppressed)


def reach(
    session: Session, contact_ids: Collection[int], *, lock: bool = False
) -> Mapping[int, ReachRow]:
    """Return opt-out and zone of contacts by row id, deleted ones included, in one statement.

    lock: hold the rows to the end of the transaction, in the order of their ids, so that whoever
    mails the same people next waits and sees what was queued (FOR NO KEY UPDATE).
    """
    if not contact_ids:
        return {}
    asked = {"ids": many(session, contact_ids), "scope": scope_of(session)}
    found = _REACH[lock].run(session, **asked).all()
    return {row_id: ReachRow(unsubscribed_at, zone) for row_id, unsubscribed_at, zone in found}


def _prepare_reach(lock: bool, dialect: str) -> Executable:
    row = table_of(Contact).c
    query = select(row.id, row.unsubscribed_at, row.timezone).where(
        among_bound(dialect, row.id), within_scope(row.workspace_id)
    )
    return query.order_by(row.id).with_for_update(key_share=True) if lock else query


_REACH: Final = {lock: Prepared(partial(_prepare_reach, lock)) for lock in (False, True)}


def _suppressions(workspace_id: int) -> Select[*tuple[Any, ...]]:
    return select(
        Suppression.id,
        Suppression.public_id,
        Suppression.email,
        Suppression.reason,
        Suppression.source,
        Suppression.created_at,
    ).where(Suppression.workspace_id == workspace_id)
