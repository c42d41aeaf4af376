"""The suppression list: block an address and let it go again (facts 3.6). All of it is audited."""

from datetime import datetime
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from engine.audience.addresses import read_address
from engine.audience.models import MANUAL, SUPPRESSION_REASONS, UNENGAGED, Suppression
from engine.audience.queries import SuppressionRow, get_suppression
from engine.core import audit
from engine.core.db import upsert
from engine.core.ids import new_public_id
from engine.core.outcome import Refused, invalid, missing

_RESOURCE: Final = "blocklist"


def suppress(
    session: Session,
    workspace_id: int,
    email: str,
    source: str,
    actor: audit.Actor,
    at: datetime,
    reason: str = MANUAL,
) -> SuppressionRow | Refused:
    """Block an address, in any spelling; audited as blocklist.added.

    A block that only stopped marketing (unengaged) gives way to one that stops everything. Refused:
    `invalid_email`, `unknown_reason`; `already_suppressed` for an address that is blocked already.
    """
    key = read_address(email)
    if key is None:
        return invalid("invalid_email", "/email")
    if reason not in SUPPRESSION_REASONS:
        return invalid("unknown_reason", "/reason")
    given = {"reason": reason, "source": source, "created_at": at}
    statement = upsert(session, Suppression).values(
        workspace_id=workspace_id, public_id=new_public_id(), email=key, **given
    )
    public_id = session.scalar(
        statement.on_conflict_do_update(
            index_elements=["workspace_id", "email"],
            set_=given,
            where=(Suppression.reason == UNENGAGED) & (statement.excluded.reason != UNENGAGED),
        ).returning(Suppression.public_id)
    )
    if public_id is None:
        return Refused("already_suppressed")
    details: dict[str, audit.Scalar] = {"email": key, "reason": reason, "source": source}
    subject = audit.Subject(workspace_id, _RESOURCE, public_id)
    audit.record(session, subject, "blocklist.added", actor, at, details)
    row = get_suppression(session, workspace_id, public_id)
    return row or missing("suppression_not_found")


def release(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Take an address off the list; audited as blocklist.removed.

    Refused: `suppression_not_found`.
    """
    found = get_suppression(session, workspace_id, public_id)
    if found is None:
        return missing("suppression_not_found")
    gone = session.execute(
        delete(Suppression)
        .where(Suppression.workspace_id == workspace_id, Suppression.id == found.row_id)
        .returning(Suppression.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if gone is None:
        return missing("suppression_not_found")  # somebody else was first
    details: dict[str, audit.Scalar] = {"email": found.email, "reason": found.reason}
    subject = audit.Subject(workspace_id, _RESOURCE, public_id)
    audit.record(session, subject, "blocklist.removed", actor, at, details)
    return None
