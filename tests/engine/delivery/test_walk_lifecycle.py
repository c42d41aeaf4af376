"""What a worker may still write once its lease is over, or its send is somebody else's (C3)."""

from collections.abc import Callable
from typing import Final

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.delivery import walk_lifecycle as lifecycle
from engine.delivery.models import EmailSend, SentMessage
from engine.delivery.walk_lifecycle import LEASE, Claimed, HandedMessage, Settled
from tests.engine.delivery.post import POOL, Post

MESSAGE: Final = HandedMessage("<m@acme.example>", "s", "<p>h</p>", "t", "From: a")
Settle = Callable[[Session, list[Settled]], int]


def hand_over(post: Post, held: Claimed, message: HandedMessage = MESSAGE) -> bool:
    with post.uow.begin(post.workspace) as session:
        return lifecycle.hand_over(session, held, message, post.clock.now())


def held_by(post: Post, row_id: int) -> Claimed:
    """Claim a send and return what its worker holds."""
    post.claim(row_id)
    return Claimed(post.workspace, row_id, post.send(row_id).attempt)


def test_a_worker_hands_over_once(post: Post) -> None:
    held = held_by(post, *post.queue())
    assert hand_over(post, held)
    assert not hand_over(post, held)


def test_a_send_that_is_somebody_else_s_is_not_handed_over(post: Post) -> None:
    (row_id,) = post.queue()
    late = held_by(post, row_id)
    post.clock.advance(LEASE)
    newest = held_by(post, row_id)
    assert not hand_over(post, late)
    assert hand_over(post, newest)


def test_a_lapsed_lease_hands_nothing_over_even_where_nobody_took_it(post: Post) -> None:
    held = held_by(post, *post.queue())
    post.clock.advance(LEASE)
    assert not hand_over(post, held)
    with post.uow.read() as session:
        assert session.scalars(select(SentMessage)).all() == []


def test_another_workspace_hands_nothing_over(post: Post) -> None:
    held = held_by(post, *post.queue())
    foreign = Claimed(post.workspace + 1, held.row_id, held.attempt)
    with post.uow.begin() as session:
        assert not lifecycle.hand_over(session, foreign, MESSAGE, post.clock.now())


def test_the_message_of_the_last_hand_over_counts(post: Post) -> None:
    (row_id,) = post.queue()
    held = held_by(post, row_id)
    hand_over(post, held)
    due = post.clock.now()
    with post.uow.begin() as session:
        again = Settled(held, "SERVER_ERROR", "451", due_at=due)
        assert lifecycle.settle_retry(session, POOL, [again], due) == 1
    held = held_by(post, row_id)
    assert hand_over(post, held, HandedMessage("<m@acme.example>", "new", "", "", ""))
    with post.uow.read() as session:
        assert [row.subject for row in session.scalars(select(SentMessage))] == ["new"]


@pytest.mark.parametrize("how", ["sent", "failed", "retry", "returned"])
def test_a_late_answer_settles_nothing(post: Post, how: str) -> None:
    (row_id,) = post.queue()
    late = held_by(post, row_id)
    post.clock.advance(LEASE)
    held_by(post, row_id)
    before = post.send(row_id)
    now = post.clock.now()
    settled = [Settled(late, "CODE", "reply", "<m@acme.example>", now)]
    settle: dict[str, Settle] = {
        "sent": lambda session, rows: lifecycle.settle_sent(session, rows, now),
        "failed": lambda session, rows: lifecycle.settle_failed(session, rows, now),
        "retry": lambda session, rows: lifecycle.settle_retry(session, POOL, rows, now),
        "returned": lambda session, rows: lifecycle.settle_returned(session, POOL, rows, now),
    }
    with post.uow.begin() as session:
        assert settle[how](session, settled) == 0
    after = post.send(row_id)
    assert vars_of(after) == vars_of(before)


def vars_of(send: EmailSend) -> dict[str, object]:
    return {column.key: getattr(send, column.key) for column in EmailSend.__table__.columns}
