"""SMTP against a real server that misbehaves at any stage (facts 4.15, decision C3)."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engine.delivery.kinds import smtp
from engine.delivery.kinds.base import (
    AUTH_FAILED,
    CONNECTION_LOST,
    CONTENT_REJECTED,
    INVALID_RECIPIENT,
    INVALID_SENDER,
    RATE_LIMIT,
    SERVER_ERROR,
    Accepted,
    NotHandedOver,
    Rejected,
    Unanswered,
)
from engine.delivery.kinds.smtp import Smtp
from tests.engine.delivery.kinds.letters import CONTENT, HandOver, MakeSmtp, letter, opened
from tests.support.sink import DROP, SmtpSink
from tests.support.waiting import free_port


def test_a_letter_arrives_as_it_was_written(sink: SmtpSink, transport: Smtp) -> None:
    assert transport.transmit(letter(), HandOver()) == Accepted("250 2.0.0 kept")
    (mail,) = sink.mails
    assert mail.sender == "team@acme.example"
    assert mail.recipients == ("kim@people.example",)
    assert mail.content == CONTENT


def test_letters_share_a_connection(sink: SmtpSink, transport: Smtp) -> None:
    for _ in range(5):
        assert isinstance(transport.transmit(letter(), HandOver()), Accepted)
    assert opened(sink) == 1


def test_a_connection_carries_no_more_than_its_share(
    sink: SmtpSink, transport: Smtp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smtp, "MESSAGES_PER_CONNECTION", 2)
    for _ in range(5):
        transport.transmit(letter(), HandOver())
    assert opened(sink) == 3


def test_threads_do_not_share_a_conversation(sink: SmtpSink, transport: Smtp) -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: transport.transmit(letter(), HandOver()), range(40)))
    assert all(isinstance(answer, Accepted) for answer in answers)
    assert len(sink.mails) == 40
    assert opened(sink) <= 4


@pytest.mark.parametrize(
    ("stage", "reply", "code", "temporary"),
    [
        ("connect", "421 4.3.2 closing", RATE_LIMIT, True),
        ("connect", "554 5.7.1 no service", SERVER_ERROR, True),
        ("mail", "451 4.3.0 later", SERVER_ERROR, True),
        ("mail", "451 4.7.1 slow down", RATE_LIMIT, True),
        ("mail", "550 5.7.1 not you", INVALID_SENDER, False),
        ("mail", "530 5.7.0 sign in first", AUTH_FAILED, False),
        ("rcpt", "450 4.2.0 greylisted", RATE_LIMIT, True),
        ("rcpt", "452 4.2.2 full", SERVER_ERROR, True),
        ("rcpt", "550 5.1.1 nobody here", INVALID_RECIPIENT, False),
        ("data", "451 4.3.0 later", SERVER_ERROR, True),
        ("data", "554 5.7.1 no", CONTENT_REJECTED, False),
    ],
)
def test_what_is_refused_before_the_body_is_known(
    sink: SmtpSink, transport: Smtp, stage: Any, reply: str, code: str, temporary: bool
) -> None:
    sink.answer(stage, reply)
    hand_over = HandOver()
    answer = transport.transmit(letter(), hand_over)
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (code, temporary)
    assert answer.reply.startswith(reply[:3])
    assert hand_over.times == 0
    assert sink.mails == []
    assert isinstance(transport.transmit(letter(), hand_over), Accepted)


@pytest.mark.parametrize("stage", ["connect", "ehlo", "mail", "rcpt", "data"])
def test_what_is_lost_before_the_body_may_be_tried_again(
    sink: SmtpSink, transport: Smtp, stage: Any
) -> None:
    sink.answer(stage, DROP)
    hand_over = HandOver()
    answer = transport.transmit(letter(), hand_over)
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (CONNECTION_LOST, True)
    assert hand_over.times == 0


@pytest.mark.parametrize(
    ("reply", "code", "temporary"),
    [
        ("451 4.3.0 later", SERVER_ERROR, True),
        ("421 4.3.2 closing", RATE_LIMIT, True),
        ("550 5.1.1 nobody here", INVALID_RECIPIENT, False),
        ("554 5.7.1 spam", CONTENT_REJECTED, False),
        ("552 5.3.4 too big", CONTENT_REJECTED, False),
    ],
)
def test_what_is_refused_behind_the_body_is_known_too(
    sink: SmtpSink, transport: Smtp, reply: str, code: str, temporary: bool
) -> None:
    sink.answer("body", reply)
    hand_over = HandOver()
    answer = transport.transmit(letter(), hand_over)
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (code, temporary)
    assert hand_over.times == 1


@pytest.mark.parametrize("stage", ["receiving", "body"])
def test_what_is_lost_behind_the_body_is_unknown(
    sink: SmtpSink, transport: Smtp, stage: Any
) -> None:
    sink.answer(stage, DROP)
    hand_over = HandOver()
    assert isinstance(transport.transmit(letter(), hand_over), Unanswered)
    assert hand_over.times == 1
    assert isinstance(transport.transmit(letter(), HandOver()), Accepted)


def test_no_hand_over_no_body(sink: SmtpSink, transport: Smtp) -> None:
    assert transport.transmit(letter(), HandOver(answer=False)) == NotHandedOver()
    assert isinstance(transport.transmit(letter(public_id="msg_2"), HandOver()), Accepted)
    assert len(sink.mails) == 1
    assert opened(sink) == 2


def test_a_hand_over_that_raises_leaves_no_body_behind(sink: SmtpSink, transport: Smtp) -> None:
    def broken() -> bool:
        raise RuntimeError("the worker is gone")

    with pytest.raises(RuntimeError):
        transport.transmit(letter(), broken)
    transport.transmit(letter(), HandOver())
    assert len(sink.mails) == 1


def test_a_connection_the_server_closed_meanwhile_is_replaced(
    sink: SmtpSink, transport: Smtp
) -> None:
    transport.transmit(letter(), HandOver())
    for reply in (DROP, "421 4.4.2 idle for too long"):
        sink.answer("mail", reply)
        assert isinstance(transport.transmit(letter(), HandOver()), Accepted)
    assert opened(sink) == 3


def test_a_long_silent_connection_is_asked_first(
    sink: SmtpSink, transport: Smtp, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport.transmit(letter(), HandOver())
    monkeypatch.setattr(smtp, "_CHECK_AFTER_SECONDS", 0.0)
    transport.transmit(letter(), HandOver())
    assert opened(sink) == 1
    monkeypatch.setattr(smtp, "_DROP_AFTER_SECONDS", 0.0)
    transport.transmit(letter(), HandOver())
    assert opened(sink) == 2


def test_nobody_listens(make_smtp: MakeSmtp) -> None:
    answer = make_smtp(f"smtp://127.0.0.1:{free_port()}").transmit(letter(), HandOver())
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (CONNECTION_LOST, True)


@pytest.mark.parametrize(
    ("greeting", "drip"),
    [(b"", b""), (b"220 hi\r\n", b""), (b"220-", b"x"), (b"", b"220-more\r\n")],
)
def test_a_server_that_says_nothing_or_never_ends_costs_one_deadline(
    silent: Callable[[bytes, bytes], int], make_smtp: MakeSmtp, greeting: bytes, drip: bytes
) -> None:
    transport = make_smtp(f"smtp://127.0.0.1:{silent(greeting, drip)}", seconds=0.5)
    begun = time.monotonic()
    answer = transport.transmit(letter(), HandOver())
    assert isinstance(answer, Rejected)
    assert answer.code == CONNECTION_LOST
    assert time.monotonic() - begun < 5
