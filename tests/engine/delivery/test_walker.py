"""Sending: claim, hand over, settle, retry (facts 4.14, 4.15, decisions C2 and C3)."""

from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import select, update

from engine.audience import service as audience_service
from engine.core.audit import Actor
from engine.delivery.composing import CONTACT_REMOVED, NO_TEMPLATE, TEMPLATE_BROKEN
from engine.delivery.effects import DispatchSends
from engine.delivery.kinds.base import (
    CONNECTION_LOST,
    INVALID_RECIPIENT,
    SERVER_ERROR,
    Rejected,
    Unanswered,
)
from engine.delivery.models import SentMessage, Template
from engine.delivery.walk_lifecycle import LEASE, OUTCOME_UNKNOWN
from engine.delivery.walker import SendWalker
from tests.engine.delivery.post import POOL, Post
from tests.factories import audience
from tests.factories.delivery import LINKS
from tests.fakes.dispatch import RecordingDispatch

LATER: Final = Rejected(SERVER_ERROR, "451 later", temporary=True)
NEVER: Final = Rejected(INVALID_RECIPIENT, "550 nobody", temporary=False)


def test_a_queued_send_leaves_and_keeps_its_message(post: Post) -> None:
    with post.uow.begin() as session:
        kim = audience.contact(session, post.workspace, "kim@people.example", first_name="Kim")
    (row_id,) = post.queue(contact_id=kim.row_id, subject_override="Dear {{ contact.first_name }}")
    assert post.walk([row_id]) == {"sent": 1}
    send = post.send(row_id)
    assert (send.status, send.attempt, send.provider_reply) == ("sent", 1, "250 taken")
    assert send.sent_at == send.handed_over_at == post.clock.now()
    assert send.lease_until is None
    assert send.message_id == f"<{send.public_id}@acme.example>"
    with post.uow.read() as session:
        (message,) = session.scalars(select(SentMessage)).all()
    assert message.subject == "Dear Kim"
    assert message.html == "<p>Hello Kim</p>"
    assert message.text == "Hello Kim\n"
    assert send.message_id in message.headers


def test_a_hand_over_is_committed_before_the_body_leaves(post: Post) -> None:
    (row_id,) = post.queue()
    seen: list[bool] = []
    post.transport.meanwhile = lambda: seen.append(post.send(row_id).handed_over_at is not None)
    post.walk([row_id])
    assert seen == [True]


@pytest.mark.parametrize("behind", [False, True])
def test_a_temporary_no_is_tried_again_after_1_5_and_30_seconds(post: Post, behind: bool) -> None:
    (row_id,) = post.queue()
    for tried, delay in enumerate((1, 5, 30), start=1):
        (post.transport.behind if behind else post.transport.before).append(LATER)
        assert post.walk([row_id]) == {"retried": 1}
        send = post.send(row_id)
        assert (send.status, send.attempt, send.error_code) == ("queued", tried, SERVER_ERROR)
        assert send.due_at == post.clock.now() + timedelta(seconds=delay)
        assert send.lease_until is None
        assert send.handed_over_at is None
        assert post.walk([row_id]) == {}
        post.clock.advance(timedelta(seconds=delay))
    (post.transport.behind if behind else post.transport.before).append(LATER)
    assert post.walk([row_id]) == {"failed": 1}
    send = post.send(row_id)
    assert (send.status, send.error_code, send.error_message) == (
        "failed",
        SERVER_ERROR,
        "451 later",
    )
    assert send.failed_at == post.clock.now()


def test_a_retry_that_succeeds_forgets_the_error(post: Post) -> None:
    (row_id,) = post.queue()
    post.transport.behind.append(LATER)
    post.walk([row_id])
    post.clock.advance(timedelta(seconds=1))
    assert post.walk([row_id]) == {"sent": 1}
    send = post.send(row_id)
    assert (send.status, send.attempt, send.error_code) == ("sent", 2, None)


def test_a_retry_is_hinted_at_its_time(post: Post, dispatch: RecordingDispatch) -> None:
    (row_id,) = post.queue()
    dispatch.take()
    post.transport.before.append(LATER)
    post.walk([row_id])
    due = post.clock.now() + timedelta(seconds=1)
    assert dispatch.of(DispatchSends) == [DispatchSends(POOL, (row_id,), due)]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (NEVER, INVALID_RECIPIENT),
        (Unanswered("the line went dead"), OUTCOME_UNKNOWN),
    ],
)
def test_a_final_answer_ends_the_send(post: Post, answer: Any, code: str) -> None:
    (row_id,) = post.queue()
    post.transport.behind.append(answer)
    assert post.walk([row_id]) == {"failed": 1}
    send = post.send(row_id)
    assert (send.status, send.error_code, send.attempt) == ("failed", code, 1)
    post.clock.advance(LEASE * 2)
    assert post.walker.sweep()["sent"] == 0
    assert len(post.transport.letters) == 1


def test_the_rate_of_the_pool_is_kept_and_the_rest_is_hinted(
    post: Post, dispatch: RecordingDispatch
) -> None:
    post.walker = SendWalker(post.uow, post.transport, LINKS, {POOL: 3})
    ids = post.queue(5)
    dispatch.take()
    assert post.walk(ids) == {"sent": 3}
    next_second = post.clock.now() + timedelta(seconds=1)
    assert dispatch.of(DispatchSends) == [DispatchSends(POOL, tuple(ids[3:]), next_second)]
    assert post.walk(ids) == {}
    assert [post.send(row_id).attempt for row_id in ids] == [1, 1, 1, 0, 0]
    post.clock.advance(timedelta(seconds=1))
    assert post.walk(ids) == {"sent": 2}


def test_a_sweep_sends_all_that_is_due_without_any_hint(post: Post) -> None:
    ids = post.queue(4)
    post.queue(1, due_at=post.clock.now() + timedelta(hours=1))
    post.walker = SendWalker(post.uow, post.transport, LINKS, {POOL: 10, "campaign": 10})
    assert post.walker.sweep()["sent"] == 4
    assert all(post.send(row_id).status == "sent" for row_id in ids)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"template_id": None}, NO_TEMPLATE),
        ({"to_email": "kim@people.example\r\nBcc: all@people.example"}, INVALID_RECIPIENT),
        ({"from_email": "nobody"}, "INVALID_SENDER"),
        ({"subject_override": "{{ broken"}, TEMPLATE_BROKEN),
        ({"subject_override": "{% for i in (1..99999999) %}x{% endfor %}"}, TEMPLATE_BROKEN),
    ],
)
def test_a_mail_that_cannot_be_written_fails_with_its_code(
    post: Post, given: dict[str, Any], code: str
) -> None:
    (row_id,) = post.queue(**given)
    assert post.walk([row_id]) == {"failed": 1}
    send = post.send(row_id)
    assert (send.error_code, send.handed_over_at) == (code, None)
    assert post.transport.letters == []


def test_nothing_goes_to_a_contact_deleted_meanwhile(post: Post) -> None:
    with post.uow.begin() as session:
        kim = audience.contact(session, post.workspace, "kim@people.example")
    (row_id,) = post.queue(contact_id=kim.row_id)
    with post.uow.begin() as session:
        actor = Actor("user:x")
        audience_service.delete_contact(
            session, post.workspace, kim.public_id, actor, post.clock.now()
        )
    assert post.walk([row_id]) == {"failed": 1}
    assert post.send(row_id).error_code == CONTACT_REMOVED


def test_queued_mail_survives_its_template_and_takes_its_newest_text(post: Post) -> None:
    first, second = post.queue(1), post.queue(1)
    post.walk(first)
    with post.uow.begin() as session:
        values = {"rendered_html": "<p>New</p>", "version": 2, "deleted_at": post.clock.now()}
        session.execute(update(Template).values(**values))
    post.walk(second)
    assert b"New" in post.transport.letters[1].content
    assert b"New" not in post.transport.letters[0].content


def test_a_lost_connection_names_itself(post: Post) -> None:
    (row_id,) = post.queue()
    post.transport.before.append(Rejected(CONNECTION_LOST, "refused", temporary=True))
    post.walk([row_id])
    send = post.send(row_id)
    assert (send.status, send.error_code, send.error_message) == (
        "queued",
        CONNECTION_LOST,
        "refused",
    )
