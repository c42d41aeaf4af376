"""Old requests that somebody has decided; one that waits stays, however old."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_
from sqlalchemy.orm import Session

from engine.accounts.models import Approval
from engine.core.db import among
from engine.core.pruning import Slice, delete_all, oldest


def old_requests(session: Session, workspace_id: int, before: datetime, after: int) -> Slice:
    """Return requests that were decided before `before`, behind the row id `after`."""
    row = Approval
    old = row.decided_at < before
    return oldest(session, row, row.workspace_id == workspace_id, old, row.asked_at < before, after)


def forget_requests(session: Session, request_ids: Sequence[int]) -> int:
    """Delete decided requests; return how many went."""
    row = Approval
    decided = and_(among(session, row.id, request_ids), row.decided_at.is_not(None))
    return delete_all(session, row, decided)
