"""Two workers at one queue: whoever claims a send holds it alone (DUP-10)."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

from sqlalchemy import func, select

from engine.delivery.models import POOL_TRANSACTIONAL, SENT, EmailSend
from engine.delivery.walker import SendWalker
from tests.engine.delivery.post import POOL, Post
from tests.factories.delivery import LINKS
from tests.fakes.transports import ScriptedTransport

MAILS = 1_000
WORKERS = 2


class Sleepy(ScriptedTransport):
    """Sleeps a random moment where two workers could meet."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self._chance, self._bed = random.Random(seed), Event()
        self.meanwhile = self._sleep

    def _sleep(self) -> None:
        self._bed.wait(self._chance.random() / 500)


def test_dup_10_two_workers_and_a_thousand_mails_make_a_thousand_copies(post: Post) -> None:
    ids = post.queue(MAILS)
    start = Barrier(WORKERS)
    transports = [Sleepy(seed) for seed in range(WORKERS)]

    def work(transport: Sleepy) -> int:
        walker = SendWalker(post.uow, transport, LINKS, {POOL_TRANSACTIONAL: MAILS * 10})
        start.wait()
        sent = 0
        # Both get every hint, in an order of their own, and whatever is due besides.
        own = random.Random(transport.seed).sample(ids, len(ids))
        sent += walker.walk(POOL, own)["sent"]
        return sent + walker.walk(POOL)["sent"]

    with ThreadPoolExecutor(WORKERS) as threads:
        sent = list(threads.map(work, transports))
    copies = Counter(letter.public_id for each in transports for letter in each.letters)
    assert len(copies) == sum(sent) == MAILS
    assert set(copies.values()) == {1}
    assert min(sent) > 0
    with post.uow.read() as session:
        done = session.scalar(
            select(func.count())
            .select_from(EmailSend)
            .where(EmailSend.status == SENT, EmailSend.attempt == 1)
        )
    assert done == MAILS
