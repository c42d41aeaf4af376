"""Opt-outs of people who were deleted: who comes back under their address has opted out too.

An opt-out belongs to the address (facts 3.5), so that no second sync and no import can undo it;
only an effective subscription does (facts 3.4).
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.core.db import among


def opted_out(
    session: Session, workspace_id: int, emails: Collection[str]
) -> Mapping[str, datetime]:
    """Return since when addresses have opted out, of those whose former contact had.

    emails: identity keys. The newest contact that had the address says what holds of it: an older
    one may have opted out before a later one subscribed again. The rows are held, so that an
    opt-out through an old link waits and then finds whoever has the address by then.
    """
    if not emails:
        return {}
    found = session.execute(
        select(Contact.email, Contact.unsubscribed_at)
        .where(
            Contact.workspace_id == workspace_id,
            Contact.deleted_at.is_not(None),
            among(session, Contact.email, emails),
        )
        .order_by(Contact.id)
        .with_for_update(read=True)
    )
    newest: dict[str, datetime | None] = {row.email: row.unsubscribed_at for row in found}
    return {email: since for email, since in newest.items() if since is not None}


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
