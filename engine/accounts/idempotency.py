"""The first answer to a POST that bears an Idempotency-Key, given again to its repetitions.

Insert first, in the caller's transaction: of many equal requests at once one does the work, the
others wait for its commit and get its answer; a rolled-back first one leaves the key free.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from engine.accounts.models import IdempotencyRecord
from engine.core.db import upsert
from engine.core.outcome import Refused

KEPT: Final = timedelta(days=1)
LONGEST_KEY: Final = 255


@dataclass(frozen=True)
class Fresh:
    """The key was free: do the work and call `finish` in the same transaction."""


@dataclass(frozen=True)
class Replay:
    """The same request was answered before; give this answer and do nothing."""

    status_code: int
    content_type: str
    answer: str


def begin(
    session: Session, workspace_id: int, key: str, request_hash: str, at: datetime
) -> Fresh | Replay | Refused:
    """Claim `key`. request_hash: over method, path and body, 64 hex characters.

    Refused: `idempotency_key_invalid` (empty or longer than 255), `idempotency_mismatch` (the key
    came with another request). Keys are free again after a day. A claim that was committed without
    `finish` is a bug and raises.
    """
    if not 0 < len(key) <= LONGEST_KEY:
        return Refused("idempotency_key_invalid", "invalid")
    fresh = {"request_hash": request_hash, "created_at": at}
    claimed = session.execute(
        upsert(session, IdempotencyRecord)
        .values(workspace_id=workspace_id, key=key, **fresh)
        .on_conflict_do_update(
            index_elements=["workspace_id", "key"],
            set_={**fresh, "status_code": None, "content_type": None, "answer": None},
            where=IdempotencyRecord.created_at < at - KEPT,
        )
        .returning(IdempotencyRecord.id)
    ).scalar()
    if claimed is not None:
        return Fresh()
    row = session.execute(
        select(
            IdempotencyRecord.request_hash,
            IdempotencyRecord.status_code,
            IdempotencyRecord.content_type,
            IdempotencyRecord.answer,
        ).where(IdempotencyRecord.workspace_id == workspace_id, IdempotencyRecord.key == key)
    ).one()
    if row.request_hash != request_hash:
        return Refused("idempotency_mismatch")
    if row.status_code is None:
        raise RuntimeError("a request was committed without its answer")
    return Replay(row.status_code, row.content_type or "", row.answer or "")


def finish(
    session: Session,
    workspace_id: int,
    key: str,
    status_code: int,
    content_type: str,
    answer: str,
) -> None:
    """Keep the answer for the repetitions."""
    session.execute(
        update(IdempotencyRecord)
        .where(IdempotencyRecord.workspace_id == workspace_id, IdempotencyRecord.key == key)
        .values(status_code=status_code, content_type=content_type, answer=answer)
        .execution_options(synchronize_session=False)
    )


def forget(session: Session, at: datetime) -> int:
    """Delete records that are older than a day; return how many went (for the retention sweep)."""
    gone = delete(IdempotencyRecord).where(IdempotencyRecord.created_at < at - KEPT)
    return len(session.execute(gone.returning(IdempotencyRecord.id)).all())
