"""Sending while workers vanish, leases lapse and the database goes away (decision C3)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from engine.core.unit_of_work import UnitOfWork
from engine.delivery.kinds.base import (
    UNKNOWN,
    Transport,
)
from engine.delivery.walk_lifecycle import LEASE, LEASE_LOST, OUTCOME_UNKNOWN
from engine.delivery.walker import (
    DATABASE_AWAY,
    SendWalker,
)
from tests.engine.delivery.post import POOL, Post
from tests.factories.delivery import LINKS
from tests.fakes.transports import Killed, ScriptedTransport


def test_one_mail_that_crashes_harms_no_other(post: Post) -> None:
    ids = post.queue(3)
    post.transport.before = [None, RuntimeError("boom"), RuntimeError("boom")]
    assert post.walk(ids) == {"sent": 2, "failed": 1}
    assert [post.send(row_id).error_code for row_id in ids] == [None, UNKNOWN, None]
    assert len(post.transport.letters) == 2


def test_a_crash_behind_the_hand_over_is_unknown_and_never_sent_again(post: Post) -> None:
    ids = post.queue(3)
    post.transport.behind = [None, RuntimeError("boom")]
    assert post.walk(ids) == {"sent": 2, "failed": 1}
    assert [post.send(row_id).error_code for row_id in ids] == [None, OUTCOME_UNKNOWN, None]
    assert len(post.transport.letters) == 3


def test_a_worker_killed_between_hand_over_and_answer_is_unknown_once(post: Post) -> None:
    (row_id,) = post.queue()
    post.transport.behind = [Killed()]
    with pytest.raises(Killed):
        post.walk([row_id])
    send = post.send(row_id)
    assert (send.status, send.handed_over_at) == ("queued", post.clock.now())
    assert post.walker.sweep() == {"sent": 0, "failed": 0, "retried": 0, "returned": 0, "lapsed": 0}
    post.clock.advance(LEASE)
    assert post.walker.sweep()["lapsed"] == 1
    assert post.walker.sweep()["lapsed"] == 0
    send = post.send(row_id)
    assert (send.status, send.error_code) == ("failed", OUTCOME_UNKNOWN)
    assert len(post.transport.letters) == 1


def test_a_kill_in_the_middle_of_a_batch_leaves_one_unknown_outcome(post: Post) -> None:
    ids = post.queue(4)
    post.transport.behind = [None, None, Killed()]
    with pytest.raises(Killed):
        post.walk(ids)
    assert [post.send(row_id).status for row_id in ids] == ["sent", "sent", "queued", "queued"]
    post.clock.advance(LEASE)
    assert post.walker.sweep() == {"sent": 1, "failed": 0, "retried": 0, "returned": 0, "lapsed": 1}
    assert [post.send(row_id).error_code for row_id in ids] == [None, None, OUTCOME_UNKNOWN, None]
    assert len(post.transport.letters) == 4


def test_an_answer_that_cannot_be_written_down_at_once_is_written_with_the_batch(
    post: Post,
) -> None:
    ids = post.queue(2)
    broken: Any = BrokenUow(post.uow)
    post.transport.meanwhile = broken.break_next
    assert dict(SendWalker(broken, post.transport, LINKS).walk(POOL, ids)) == {"sent": 2}
    assert [post.send(row_id).status for row_id in ids] == ["sent", "sent"]
    assert broken.broken == 2


def test_a_worker_killed_before_the_hand_over_costs_a_try(post: Post) -> None:
    (row_id,) = post.queue()
    post.claim(row_id)
    assert post.walk([row_id]) == {}
    post.clock.advance(LEASE)
    assert post.walker.sweep()["sent"] == 1
    assert post.send(row_id).attempt == 2


def test_a_mail_that_kills_every_worker_ends_and_is_taken_alone(post: Post) -> None:
    first, second = post.queue(2)
    for _ in range(3):
        post.claim(first)
        post.claim(second)
        post.clock.advance(LEASE)
    post.claim(first)
    assert post.walker.sweep()["sent"] == 1
    assert post.send(second).status == "sent"
    post.clock.advance(LEASE)
    assert post.walker.sweep()["lapsed"] == 1
    send = post.send(first)
    assert (send.status, send.error_code, send.attempt) == ("failed", LEASE_LOST, 4)


def test_lapsed_mails_are_taken_one_by_one(post: Post) -> None:
    ids = post.queue(3)
    for row_id in ids:
        post.claim(row_id)
    post.clock.advance(LEASE)
    claimed: list[int] = []

    def count() -> None:
        now = post.clock.now()
        leases = [post.send(row_id).lease_until for row_id in ids]
        claimed.append(sum(lease is not None and lease > now for lease in leases))

    post.transport.meanwhile = count
    assert post.walker.sweep()["sent"] == 3
    assert claimed == [1, 1, 1]


def test_a_worker_that_lost_its_lease_hands_over_nothing(post: Post) -> None:
    (row_id,) = post.queue()
    other = SendWalker(post.uow, ScriptedTransport(), LINKS)

    class Slow(ScriptedTransport):
        """While it talks, the lease lapses and another worker takes the mail."""

        def transmit(self, letter: Any, hand_over: Callable[[], bool]) -> Any:
            post.clock.advance(LEASE)
            assert other.sweep()["sent"] == 1
            return super().transmit(letter, hand_over)

    slow = Slow()
    assert dict(SendWalker(post.uow, slow, LINKS).walk(POOL, [row_id])) == {"lost": 1}
    assert slow.letters == []
    assert post.send(row_id).status == "sent"


def test_an_answer_behind_the_lease_changes_nothing(post: Post) -> None:
    (row_id,) = post.queue()

    def lapse() -> None:
        post.clock.advance(LEASE)
        SendWalker(post.uow, ScriptedTransport(), LINKS).sweep()

    post.transport.meanwhile = lapse
    assert post.walk([row_id]) == {"lost": 1}
    assert post.send(row_id).error_code == OUTCOME_UNKNOWN


def test_a_batch_ends_inside_its_lease(post: Post) -> None:
    ids = post.queue(3)
    post.transport.meanwhile = lambda: post.clock.set(post.clock.now() + timedelta(seconds=56))
    assert post.walk(ids) == {"sent": 1, "returned": 2}
    for row_id in ids[1:]:
        send = post.send(row_id)
        assert (send.status, send.attempt, send.lease_until) == ("queued", 0, None)
        assert send.due_at == post.clock.now()
    post.transport.meanwhile = lambda: None
    assert post.walker.sweep()["sent"] == 2


class BrokenUow:
    """A unit of work whose commit fails on demand, as a database that goes away does."""

    def __init__(self, uow: UnitOfWork) -> None:
        self._uow = uow
        self.failing = 0
        self._breaks_next = False
        self.broken = 0

    def break_next(self) -> None:
        """Let the next transaction fail, whatever it is about."""
        self._breaks_next = True

    @contextmanager
    def begin(self, workspace_id: int | None = None) -> Iterator[Session]:
        with self._uow.begin(workspace_id) as session:
            yield session
            if self._breaks_next:
                self._breaks_next = False
                self.broken += 1
                raise OperationalError("COMMIT", {}, Exception("away"))
            if self.failing and workspace_id is not None:
                self.failing -= 1
                raise OperationalError("COMMIT", {}, Exception("away"))

    def read(self, workspace_id: int | None = None) -> Any:
        return self._uow.read(workspace_id)


def test_a_database_away_at_the_hand_over_sends_nothing_and_tries_again(post: Post) -> None:
    (row_id,) = post.queue()
    broken: Any = BrokenUow(post.uow)
    broken.failing = 1
    transport: Transport = post.transport
    walker = SendWalker(broken, transport, LINKS)
    assert dict(walker.walk(POOL, [row_id])) == {"retried": 1}
    assert post.transport.letters == []
    assert post.send(row_id).error_code == DATABASE_AWAY
    post.clock.advance(timedelta(seconds=1))
    assert dict(walker.walk(POOL, [row_id])) == {"sent": 1}


@pytest.mark.parametrize("walkers", [2, 4])
def test_walkers_on_the_same_rows_send_each_once(post: Post, walkers: int) -> None:
    ids = post.queue(24)
    start = Barrier(walkers)

    def walk() -> None:
        start.wait()
        SendWalker(post.uow, post.transport, LINKS).walk(POOL, ids)

    threads = [Thread(target=walk) for _ in range(walkers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    post.clock.advance(timedelta(seconds=1))
    post.walker.sweep()
    assert sorted(letter.public_id for letter in post.transport.letters) == sorted(
        post.send(row_id).public_id for row_id in ids
    )
    assert {post.send(row_id).attempt for row_id in ids} == {1}
