"""Addresses that opted out of marketing mail: who gets one later has opted out as well.

An opt-out belongs to the address (facts 3.5) and outlives the contact, its purge too, so that no
second sync and no import can undo it; only an effective subscription does (facts 3.4). The mark
names nobody: it is a hash of the address.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, Executable, bindparam, delete, select, update
from sqlalchemy.orm import Session

from engine.audience.addresses import opt_out_hash
from engine.audience.models import Contact, OptOut
from engine.core.db import Prepared, among, among_bound, dialect_of, many, table_of, upsert


def mark(session: Session, workspace_id: int, email: str, at: datetime) -> None:
    """Note that an address opted out; the first time counts. email: an identity key."""
    session.execute(
        upsert(session, OptOut)
        .values(
            workspace_id=workspace_id,
            address_hash=opt_out_hash(workspace_id, email),
            opted_out_at=at,
        )
        .on_conflict_do_nothing(index_elements=["workspace_id", "address_hash"])
    )


def unmark(session: Session, workspace_id: int, emails: Collection[str]) -> None:
    """Forget that these addresses opted out."""
    if not emails:
        return
    hashes = [opt_out_hash(workspace_id, email) for email in emails]
    session.execute(
        delete(OptOut)
        .where(
            OptOut.workspace_id == workspace_id,
            among(session, OptOut.address_hash, hashes),
        )
        .execution_options(synchronize_session=False)
    )


def opted_out(
    session: Session, workspace_id: int, emails: Collection[str]
) -> Mapping[str, datetime]:
    """Return since when addresses have opted out; others are left out. emails: identity keys.

    Former contacts with these addresses are held first, so that an opt-out through an old link
    waits for this transaction and then finds whoever has the address by then.
    """
    if not emails:
        return {}
    if dialect_of(session) != "sqlite":  # one writes at a time there
        _HOLD.run(session, workspace_id=workspace_id, ids=many(session, emails))
    known = {opt_out_hash(workspace_id, email): email for email in emails}
    found = _MARKED.run(session, workspace_id=workspace_id, ids=many(session, known))
    return {known[row.address_hash]: row.opted_out_at for row in found}


def take_over(session: Session, workspace_id: int, moved: Mapping[int, str]) -> None:
    """Opt those out who have just got an address that opted out; addresses by contact row id."""
    since = opted_out(session, workspace_id, set(moved.values()))
    for row_id, email in moved.items():
        if email in since:
            session.execute(
                update(Contact)
                .where(
                    Contact.workspace_id == workspace_id,
                    Contact.id == row_id,
                    Contact.unsubscribed_at.is_(None),
                )
                .values(unsubscribed_at=since[email])
                .execution_options(synchronize_session=False)
            )


def _prepare_hold(dialect: str) -> Executable:
    row = table_of(Contact).c
    return (
        select(row.id)
        .where(
            row.workspace_id == bindparam("workspace_id", type_=BigInteger()),
            row.deleted_at.is_not(None),
            among_bound(dialect, row.email),
        )
        .order_by(row.id)
        .with_for_update(read=True)
    )


def _prepare_marked(dialect: str) -> Executable:
    row = table_of(OptOut).c
    return select(row.address_hash, row.opted_out_at).where(
        row.workspace_id == bindparam("workspace_id", type_=BigInteger()),
        among_bound(dialect, row.address_hash),
    )


_HOLD: Final = Prepared(_prepare_hold)
_MARKED: Final = Prepared(_prepare_marked)
