"""`sweep outbox`: product events to STELLWERK_POSTHOG_URL, in batches of PostHog's format.

Claimed with a lease in a commit of its own, posted without a transaction, settled in a third beat:
two sweeps at once send each event once, and a receiver tells what a crash doubled by its uuid.
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import structlog
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.core import clock, http
from engine.core.outbox.rows import ProductEvent
from engine.core.settings import Settings
from engine.core.unit_of_work import UnitOfWork

log: Final = structlog.get_logger(__name__)

BATCH: Final = 100
LEASE: Final = timedelta(seconds=60)
# After a failure: one minute, then twice as long each time, at most an hour.
FIRST_PAUSE: Final = timedelta(minutes=1)
LONGEST_PAUSE: Final = timedelta(hours=1)
# One tick of the timetable takes no longer than this; the next minute goes on.
BUDGET: Final = timedelta(seconds=30)
# What a receiver says of a body it will never take; the halves show which event it is.
_REFUSED: Final = frozenset({400, 413, 422})
_BATCH_PATH: Final = "/batch/"


@dataclass(frozen=True)
class _Waiting:
    """A claimed event."""

    id: int
    attempt: int
    payload: Mapping[str, Any]


def pause(attempt: int) -> timedelta:
    """Return how long an event rests after its `attempt`-th try failed."""
    doubled: timedelta = FIRST_PAUSE * 2 ** min(attempt - 1, 10)
    return min(LONGEST_PAUSE, doubled)


class Drain:
    """Sends waiting product events; several may run at once.

    url: where to; without a path `/batch/` is meant. None: nothing is sent, the rows stay until
    they are forgotten (`KEPT`).
    """

    def __init__(self, uow: UnitOfWork, url: str | None, key: str, client: http.Client) -> None:
        self._uow = uow
        self._url = url and _batch_address(url)
        self._key = key
        self._client = client

    def sweep(self) -> Mapping[str, int]:
        """Send what is due until nothing is, however long it takes (interface, "Command line").

        Returns how many events were `delivered`, how many are to be tried again (`failed`), and
        how many were put off untried because the receiver took nothing (`postponed`).
        """
        return self._drain(math.inf)

    def tick(self) -> Mapping[str, int]:
        """Do as `sweep`, but no longer than the budget."""
        return self._drain(time.monotonic() + BUDGET.total_seconds())

    def _drain(self, end: float) -> Mapping[str, int]:
        done = {"delivered": 0, "failed": 0, "postponed": 0}
        while self._url is not None and time.monotonic() < end:
            batch = self._claim()
            if not batch:
                break
            delivered, away = self._deliver(batch)
            failed = [event for event in batch if event.id not in delivered]
            self._settle(delivered, failed)
            done["delivered"] += len(delivered)
            done["failed"] += len(failed)
            if away:
                done["postponed"] += self._postpone()
        return done

    def _postpone(self) -> int:
        """Let what else is due wait for the receiver too: each batch in vain costs a deadline."""
        at = clock.now()
        row = ProductEvent
        with self._uow.begin() as session:
            put_off: Any = session.execute(
                update(row)
                .where(row.delivered_at.is_(None), row.due_at <= at)
                .values(due_at=at + FIRST_PAUSE)
                .execution_options(synchronize_session=False)
            )
            return int(put_off.rowcount)

    def _claim(self) -> Sequence[_Waiting]:
        at = clock.now()
        with self._uow.begin() as session:
            due = (
                select(ProductEvent)
                .where(ProductEvent.delivered_at.is_(None), ProductEvent.due_at <= at)
                .order_by(ProductEvent.due_at, ProductEvent.id)
                .limit(BATCH)
                .with_for_update(skip_locked=True)
            )
            rows = session.scalars(due).all()
            for row in rows:
                row.attempt += 1
                row.due_at = at + LEASE
            return [_Waiting(row.id, row.attempt, _payload(row)) for row in rows]

    def _deliver(self, batch: Sequence[_Waiting]) -> tuple[set[int], bool]:
        """Return the ids that the receiver took, and whether it was away for any of them."""
        body = {"api_key": self._key, "batch": [event.payload for event in batch]}
        headers = {"content-type": "application/json"}
        call = http.Call("POST", str(self._url), headers, json.dumps(body).encode())
        answer = self._client.send(call)
        if isinstance(answer, http.Answered) and answer.good:
            return {event.id for event in batch}, False
        refused = _refused(answer)
        if refused and len(batch) > 1:
            middle = len(batch) // 2
            first, away = self._deliver(batch[:middle])
            second, gone = self._deliver(batch[middle:])
            return first | second, away or gone
        log.warning("product_events_wait", events=len(batch), reason=_reason(answer))
        return set(), not refused

    def _settle(self, delivered: set[int], failed: Sequence[_Waiting]) -> None:
        at = clock.now()
        with self._uow.begin() as session:
            _set(session, delivered, {"delivered_at": at})
            by_attempt = sorted(failed, key=lambda event: event.attempt)
            for attempt, events in groupby(by_attempt, key=lambda event: event.attempt):
                ids = {event.id for event in events}
                _set(session, ids, {"due_at": at + pause(attempt)}, attempt)


def _set(
    session: Session, ids: set[int], values: Mapping[str, datetime], attempt: int | None = None
) -> None:
    """Write `values`. attempt: only where no other sweep has claimed the row since."""
    if not ids:
        return
    statement = update(ProductEvent).where(
        ProductEvent.id.in_(ids), ProductEvent.delivered_at.is_(None)
    )
    if attempt is not None:
        statement = statement.where(ProductEvent.attempt == attempt)
    session.execute(statement.values(dict(values)).execution_options(synchronize_session=False))


def _payload(row: ProductEvent) -> dict[str, Any]:
    return {
        "event": row.name,
        "distinct_id": row.actor,
        "properties": dict(row.properties),
        "timestamp": row.occurred_at.isoformat(),
        # The same event always bears the same uuid: that is what doubles are told by.
        "uuid": str(uuid5(NAMESPACE_URL, row.public_id)),
    }


def _refused(answer: http.Answered | http.Unreachable) -> bool:
    return isinstance(answer, http.Answered) and answer.status in _REFUSED


def _reason(answer: http.Answered | http.Unreachable) -> str:
    return str(answer.status) if isinstance(answer, http.Answered) else answer.reason


def _batch_address(url: str) -> str:
    return url.rstrip("/") + _BATCH_PATH if urlsplit(url).path in ("", "/") else url


def drain_for(uow: UnitOfWork, settings: Settings) -> Drain:
    """Return the drain of an installation. The operator named the receiver: it may be private."""
    url, key = settings.posthog_url, settings.posthog_key
    named = urlsplit(url).hostname or "" if url else ""
    allowed = [*settings.allow_private_hosts.split(","), named]
    return Drain(uow, url, key.get_secret_value() if key else "", http.Client(allowed))
