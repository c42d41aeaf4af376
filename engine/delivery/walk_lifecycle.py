"""A send on its way: claimed, handed over, settled, lapsed; the plural door of its machine.

A claimed send stays `queued` with a lease. `handed_over_at` is committed just before the body
leaves, guarded by the attempt; from then on an answer that never comes is OUTCOME_UNKNOWN
(decision C3). Retries are rows with a due time: 1, 5 and 30 s after the try (decision C2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, String, Subquery, Text, bindparam, select
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from engine.accounts.queries import suspended
from engine.core.db import Id, Instant, batch_table, table_of, upsert
from engine.core.effects import CHUNK, emit
from engine.core.machine import transition_many
from engine.core.walking import Claim
from engine.delivery.effects import DispatchSends
from engine.delivery.lifecycle import SENDS, failed_patch, sent_patch
from engine.delivery.models import FAILED, QUEUED, SENT, EmailSend, SentMessage

TRIES: Final = 4
RETRY_DELAYS: Final = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30))
# The sweep's period: what is due later than that is found by it in time.
SWEEP_EVERY: Final = timedelta(seconds=60)
LEASE: Final = timedelta(seconds=120)
OUTCOME_UNKNOWN: Final = "OUTCOME_UNKNOWN"
LEASE_LOST: Final = "LEASE_LOST"
_SWEPT: Final = 200
_SHOWN: Final = 500
_SEND: Final = table_of(EmailSend).c
_CLAIMED: Final = (
    "id",
    "workspace_id",
    "public_id",
    "attempt",
    "lease_until",
    "contact_id",
    "template_id",
    "subject_override",
    "context",
    "to_email",
    "from_email",
    "from_name",
    "reply_to",
    "purpose",
    "kind",
)


def hint(
    session: Session, pool: str, send_ids: Sequence[int], due_at: datetime, at: datetime
) -> None:
    """Hint the queue at sends, in chunks; what is due later than the next sweep needs no hint."""
    if due_at - at > SWEEP_EVERY:
        return
    for start in range(0, len(send_ids), CHUNK):
        ids = tuple(send_ids[start : start + CHUNK])
        emit(session, DispatchSends(pool, ids, due_at if due_at > at else None))


def due(pool: Any, at: Any) -> list[ColumnElement[bool]]:
    """Return what, beside `queued`, makes a send claimable; lapsed leases included.

    The mails of a suspended workspace are left alone until it goes on.
    """
    return [
        _SEND.workspace_id.not_in(suspended()),
        _SEND.pool == pool,
        _SEND.due_at <= at,
        _SEND.handed_over_at.is_(None),
        _SEND.attempt < TRIES,
    ]


_UNTIL: Final = bindparam("until", type_=Instant())
_CLAIM: Final = Claim(
    machine=SENDS,
    edge=(QUEUED, QUEUED),
    due=due(bindparam("of_pool", type_=String()), bindparam("at", type_=Instant())),
    patch={"attempt": _SEND.attempt + 1, "lease_until": _UNTIL, "due_at": _UNTIL},
    returning=[_SEND[name] for name in _CLAIMED],
)


def claim(
    session: Session, pool: str, send_ids: Sequence[int] | None, limit: int, at: datetime
) -> Sequence[Any]:
    """Claim up to `limit` due sends: attempt + 1 and a lease; the status stays queued.

    Returns what `loading.load` reads.
    """
    return _CLAIM.take(session, send_ids, limit, of_pool=pool, at=at, until=at + LEASE)


@dataclass(frozen=True)
class Claimed:
    """A send as its worker holds it; every write of the worker is guarded by the attempt."""

    workspace_id: int
    row_id: int
    attempt: int

    @property
    def key(self) -> tuple[int, int]:
        """Return what names this try of this send."""
        return self.row_id, self.attempt


@dataclass(frozen=True)
class HandedMessage:
    """The message as it leaves, for the record."""

    message_id: str
    subject: str
    html: str
    text: str
    headers: str


def hand_over(session: Session, held: Claimed, message: HandedMessage, at: datetime) -> bool:
    """Note that the body leaves now, with the message; False: the lease is lost, send nothing."""
    moved = transition_many(
        session,
        SENDS,
        (QUEUED, QUEUED),
        [
            EmailSend.workspace_id == held.workspace_id,
            EmailSend.id == held.row_id,
            EmailSend.attempt == held.attempt,
            EmailSend.handed_over_at.is_(None),
            EmailSend.lease_until > at,
        ],
        {"handed_over_at": at, "message_id": message.message_id},
    )
    if not moved:
        return False
    content = {
        "subject": message.subject,
        "html": message.html,
        "text": message.text,
        "headers": message.headers,
        "created_at": at,
    }
    # A body that was answered "try later" is handed over again: the last one counts.
    session.execute(
        upsert(session, SentMessage)
        .values(workspace_id=held.workspace_id, send_id=held.row_id, **content)
        .on_conflict_do_update(index_elements=["workspace_id", "send_id"], set_=content)
    )
    return True


@dataclass(frozen=True)
class Settled:
    """What became of a claimed send. due_at: of the next try, for retries and returns alone."""

    held: Claimed
    code: str | None = None
    reply: str | None = None
    message_id: str | None = None
    due_at: datetime | None = None


_SETTLED: Final[Mapping[str, TypeEngine[Any]]] = {
    "id": Id,
    "attempt": Integer(),
    "code": String(),
    "reply": Text(),
    "message_id": String(),
    "due_at": Instant(),
}


def settle_sent(session: Session, settled: Sequence[Settled], at: datetime) -> int:
    """Write down sends that the other side took; return how many were still ours."""
    if not settled:
        return 0
    batch = _batch(session, settled)
    return len(_settle(session, SENT, batch, sent_patch(batch.c.message_id, batch.c.reply, at)))


def settle_failed(session: Session, settled: Sequence[Settled], at: datetime) -> int:
    """Write down sends that failed for good; return how many were still ours."""
    if not settled:
        return 0
    batch = _batch(session, settled)
    return len(_settle(session, FAILED, batch, failed_patch(batch.c.code, batch.c.reply, at)))


def settle_retry(session: Session, pool: str, settled: Sequence[Settled], at: datetime) -> int:
    """Put sends back that were refused for now, and hint at their next try."""
    if not settled:
        return 0
    batch = _batch(session, settled)
    patch = {
        "due_at": batch.c.due_at,
        "lease_until": None,
        "handed_over_at": None,
        "error_code": batch.c.code,
        "error_message": batch.c.reply,
    }
    return _put_back(session, pool, batch, patch, at)


def settle_returned(session: Session, pool: str, settled: Sequence[Settled], at: datetime) -> int:
    """Put sends back that nobody tried, as if they had not been claimed."""
    if not settled:
        return 0
    batch = _batch(session, settled)
    patch = {
        "due_at": batch.c.due_at,
        "lease_until": None,
        "attempt": EmailSend.attempt - 1,
    }
    return _put_back(session, pool, batch, patch, at)


def _put_back(
    session: Session, pool: str, batch: Subquery, patch: Mapping[str, Any], at: datetime
) -> int:
    moved = _settle(session, QUEUED, batch, patch, [EmailSend.id, EmailSend.due_at])
    for due_at in sorted({row.due_at for row in moved}):
        hint(session, pool, [row.id for row in moved if row.due_at == due_at], due_at, at)
    return len(moved)


def _batch(session: Session, settled: Sequence[Settled]) -> Subquery:
    rows = [
        {
            "id": each.held.row_id,
            "attempt": each.held.attempt,
            "code": each.code,
            "reply": None if each.reply is None else each.reply[:_SHOWN],
            "message_id": each.message_id,
            "due_at": each.due_at,
        }
        for each in settled
    ]
    return batch_table(session, _SETTLED, rows)


def _settle(
    session: Session,
    status: str,
    batch: Subquery,
    patch: Mapping[str, Any],
    returning: Sequence[Any] | None = None,
) -> Sequence[Any]:
    where = [EmailSend.id == batch.c.id, EmailSend.attempt == batch.c.attempt]
    return transition_many(session, SENDS, (QUEUED, status), where, patch, returning)


def fail_lapsed(session: Session, pool: str, at: datetime) -> dict[str, int]:
    """End sends whose worker is gone: handed over means nobody knows, the last try means lost.

    Returns how many, by code; at most a bounded number of each per call.
    """
    lapsed = [EmailSend.pool == pool, EmailSend.due_at <= at, EmailSend.lease_until.is_not(None)]
    handed = EmailSend.handed_over_at.is_not(None)
    ends = {
        OUTCOME_UNKNOWN: [*lapsed, handed],
        LEASE_LOST: [*lapsed, ~handed, EmailSend.attempt >= TRIES],
    }
    return {code: _fail(session, where, code, at) for code, where in ends.items()}


def _fail(session: Session, where: Sequence[ColumnElement[bool]], code: str, at: datetime) -> int:
    chosen = select(EmailSend.id).where(SENDS.is_(QUEUED), *where).limit(_SWEPT)
    patch = failed_patch(code, None, at)
    return len(
        transition_many(session, SENDS, (QUEUED, FAILED), [EmailSend.id.in_(chosen), *where], patch)
    )
