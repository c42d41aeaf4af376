"""The three beats of sending: claim due sends under the pool's rate, transmit, settle.

Each message is handed over by a commit of its own just before its body leaves, and settled before
the next is begun (decision C3). A batch ends inside its lease: what would not fit is put back.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy import select
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from engine.core import clock, faults, rate, walking
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import walk_lifecycle as lifecycle
from engine.delivery.compose.letter import Written
from engine.delivery.compose.render import TemplateCache
from engine.delivery.composing import Composed, compose
from engine.delivery.kinds.base import (
    LETTER_SECONDS,
    UNKNOWN,
    Accepted,
    Delivery,
    NotHandedOver,
    Rejected,
    Transport,
    Unanswered,
)
from engine.delivery.lifecycle import SENDS
from engine.delivery.links import Links
from engine.delivery.loading import SendItem, load
from engine.delivery.models import POOL_CAMPAIGN, POOL_TRANSACTIONAL, QUEUED, EmailSend
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN, HandedMessage, Settled

log: Final = structlog.get_logger(__name__)

# Messages a second and pool, over all processes (decision C2).
RATES: Final[Mapping[str, int]] = {POOL_TRANSACTIONAL: 30, POOL_CAMPAIGN: 20}
_SECOND: Final = timedelta(seconds=1)
# A message is begun only where its longest course still ends inside the lease.
_RESERVE: Final = timedelta(seconds=LETTER_SECONDS + 5)

DATABASE_AWAY: Final = "DATABASE_AWAY"


class SendWalker:
    """Walks the sends of every pool. One for a process, used by many threads."""

    def __init__(
        self,
        uow: UnitOfWork,
        transport: Transport,
        links: Links,
        rates: Mapping[str, int] = RATES,
    ) -> None:
        """links: makes the addresses in mails that lead back here; rates: messages a second."""
        self.uow = uow
        self.links = links
        self.transport = transport
        self.rates = rates
        self.templates = TemplateCache()

    def walk(self, pool: str, ids: Sequence[int] | None = None) -> Counter[str]:
        """Send what is due of `ids`, or whatever is due; return what happened, by word."""
        walk = _PoolWalk(self, pool)
        report = walking.walk(walk, ids)
        if walk.tally:
            log.info("sends_settled", pool=pool, **walk.tally)
        if report.left:
            with self.uow.begin() as session:
                at = clock.now()
                lifecycle.hint(session, pool, report.left, at, at)
        return walk.tally

    def sweep(self) -> Mapping[str, int]:
        """Do what no hint led to, in every pool, until nothing is due; return counts.

        Lapsed leases end or are claimed again. Where the rate is used up, its next second is
        awaited.
        """
        total: Counter[str] = Counter(sent=0, failed=0, retried=0, returned=0, lapsed=0)
        for pool in self.rates:
            while True:
                with self.uow.begin() as session:
                    ended = lifecycle.fail_lapsed(session, pool, clock.now())
                done = self.walk(pool)
                total.update(done)
                total["lapsed"] += sum(ended.values())
                if not done and not any(ended.values()) and not self._wait_for_tokens(pool):
                    break
        return dict(total)

    def close(self) -> None:
        """Let go of the transport's connections."""
        self.transport.close()

    def _wait_for_tokens(self, pool: str) -> bool:
        """Wait until the rate's next second where sends are due; False: there is nothing to do."""
        at = clock.now()
        with self.uow.read() as session:
            waiting = session.scalar(
                select(EmailSend.id).where(SENDS.is_(QUEUED), *lifecycle.due(pool, at)).limit(1)
            )
        if waiting is None:
            return False
        until = rate.window_start(at, _SECOND) + _SECOND
        time.sleep((until - at).total_seconds())
        # A standing clock (tests) never reaches the next second.
        return clock.now() >= until


@dataclass(frozen=True)
class Returned:
    """The message was not begun: the lease would not have lasted."""


Outcome = Delivery | Returned
Key = tuple[int, int]


class _PoolWalk:
    """The beats for one pool, and what became of each message so far.

    A batch that crashes is run again item by item (core.walking), so every outcome is kept: no
    message is begun twice. Keys are (send, attempt).
    """

    def __init__(self, owner: SendWalker, pool: str) -> None:
        self._owner = owner
        self._pool = pool
        self._outcomes: dict[Key, Outcome] = {}
        self._written: dict[Key, Written] = {}
        self._handed: set[Key] = set()
        self._away: set[Key] = set()
        self._over: set[Key] = set()
        self.tally: Counter[str] = Counter()

    def claim(self, ids: Sequence[int] | None, limit: int) -> Sequence[SendItem]:
        """Claim due sends, as many as the pool's rate grants; hint at the rest of `ids`."""
        most = self._owner.rates[self._pool]
        with self._owner.uow.begin() as session:
            at = clock.now()
            due = self._due(session, ids, limit if ids is not None else min(limit, most), at)
            # A message whose worker vanished is taken alone: it may be what kills workers.
            lapsed = [row_id for row_id, was_claimed in due if was_claimed][:1]
            wanted = lapsed or [row_id for row_id, _ in due[:most]]
            granted = self._lease(session, len(wanted), at)
            chosen = wanted[:granted]
            if ids is not None:
                rest = [row_id for row_id, _ in due if row_id not in chosen]
                next_second = rate.window_start(at, _SECOND) + _SECOND
                soon = at if lapsed and granted else next_second
                lifecycle.hint(session, self._pool, rest, soon, at)
            if not chosen:
                return []
            rows = lifecycle.claim(session, self._pool, chosen, granted, at)
            return load(session, rows, self._owner.templates, self._owner.links)

    def _due(
        self, session: Session, ids: Sequence[int] | None, limit: int, at: datetime
    ) -> list[tuple[int, bool]]:
        """Return due sends: row id, and whether a lease on it has lapsed."""
        query = select(EmailSend.id, EmailSend.lease_until.is_not(None)).where(
            SENDS.is_(QUEUED), *lifecycle.due(self._pool, at)
        )
        if ids is not None:
            query = query.where(EmailSend.id.in_(ids))
        found = session.execute(query.order_by(EmailSend.due_at, EmailSend.id).limit(limit))
        return [(row_id, bool(lapsed)) for row_id, lapsed in found]

    def _lease(self, session: Session, want: int, at: datetime) -> int:
        if not want:
            return 0
        most = self._owner.rates[self._pool]
        return rate.lease(session, f"sends:{self._pool}", most, _SECOND, at, want)

    def run(self, items: Sequence[SendItem]) -> Mapping[int, Outcome]:
        """Transmit one message after the other, and settle at once what was handed over.

        So a kill leaves one unknown outcome per connection, not a batch of them.
        """
        for item in items:
            if item.held.key not in self._outcomes:
                self._outcomes[item.held.key] = self._send(item)
                faults.point("send.answered")
                if item.held.key in self._handed:
                    # While the database is away, the end of the batch waits for it.
                    with suppress(OperationalError, InterfaceError):
                        self.settle([item], {item.id: self._outcomes[item.held.key]})
                    faults.point("send.settled")
        return {item.id: self._outcomes[item.held.key] for item in items}

    def parts(self, items: Sequence[SendItem]) -> Sequence[Sequence[SendItem]]:
        """Return the batch as one: its connection takes one message after the other anyway."""
        return [items]

    def crashed(self, item: SendItem, error: Exception) -> Outcome:
        """Return what a crash means: unknown behind the hand-over, a failure before it."""
        if item.held.key in self._handed:
            return Unanswered(type(error).__name__)
        return Rejected(UNKNOWN, type(error).__name__, temporary=False)

    def _send(self, item: SendItem) -> Outcome:
        if item.held.key in self._handed:
            return Unanswered("")
        if clock.now() + _RESERVE > item.lease_until:
            return Returned()
        written = compose(item, clock.now())
        if isinstance(written, Rejected):
            return written
        self._written[item.held.key] = written.message
        return self._owner.transport.transmit(
            written.message.letter, lambda: self._hand_over(item, written)
        )

    def _hand_over(self, item: SendItem, composed: Composed) -> bool:
        mail, sent = composed.mail, composed.message
        message = HandedMessage(sent.message_id, mail.subject, mail.html, mail.text, sent.headers)
        faults.point("send.handing")
        try:
            with self._owner.uow.begin(item.held.workspace_id) as session:
                handed = lifecycle.hand_over(session, item.held, message, clock.now())
        except (OperationalError, InterfaceError) as error:
            # Nothing has left, and nothing will: even if this commit landed, the message is known.
            self._away.add(item.held.key)
            log.warning("hand_over_waits", send=item.id, error=type(error.orig).__name__)
            return False
        if handed:
            self._handed.add(item.held.key)
        faults.point("send.handed")
        return handed

    def settle(self, items: Sequence[SendItem], outcomes: Mapping[int, Outcome]) -> Sequence[int]:
        """Write down what became of the messages, each once; a lost lease writes nothing."""
        at = clock.now()
        sorted_out: dict[str, list[Settled]] = defaultdict(list)
        open_items = [item for item in items if item.held.key not in self._over]
        for item in open_items:
            word, settled = self._settled(item, outcomes[item.id], at)
            sorted_out[word].append(settled)
        with self._owner.uow.begin() as session:
            landed = Counter(
                sent=lifecycle.settle_sent(session, sorted_out["sent"], at),
                failed=lifecycle.settle_failed(session, sorted_out["failed"], at),
                retried=lifecycle.settle_retry(session, self._pool, sorted_out["retried"], at),
                returned=lifecycle.settle_returned(session, self._pool, sorted_out["returned"], at),
            )
        landed["lost"] = len(open_items) - landed.total()
        self.tally += landed
        self._over.update(item.held.key for item in open_items)
        return []

    def _settled(self, item: SendItem, outcome: Outcome, at: datetime) -> tuple[str, Settled]:
        held = item.held
        if isinstance(outcome, NotHandedOver) and held.key in self._away:
            outcome = Rejected(DATABASE_AWAY, "", temporary=True)
        match outcome:
            case Accepted(reply):
                message_id = self._written[held.key].message_id
                return "sent", Settled(held, reply=reply, message_id=message_id)
            case Unanswered(reply):
                return "failed", Settled(held, OUTCOME_UNKNOWN, reply)
            case Rejected(code, reply, temporary=True) if held.attempt < lifecycle.TRIES:
                due_at = at + lifecycle.RETRY_DELAYS[held.attempt - 1]
                return "retried", Settled(held, code, reply, due_at=due_at)
            case Rejected(code, reply):
                return "failed", Settled(held, code, reply)
            case Returned():
                return "returned", Settled(held, due_at=at)
            case NotHandedOver():
                return "lost", Settled(held)
