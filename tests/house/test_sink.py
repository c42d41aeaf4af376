"""The SMTP sink does what its stages promise; half the delivery tests lean on it."""

import smtplib

import pytest

from tests.support.sink import DROP, MakeSink, SmtpSink, Stage

MESSAGE = "Subject: hello\r\n\r\nGrüße\r\n".encode()


def _send(sink: SmtpSink, to: str = "ada@example.example") -> None:
    with smtplib.SMTP("127.0.0.1", sink.port, timeout=10) as client:
        client.sendmail("shop@sender.example", [to], MESSAGE)


def test_a_message_is_kept_as_it_came(sink: SmtpSink) -> None:
    _send(sink)
    [mail] = sink.wait_for_mails(1)
    assert mail.sender == "shop@sender.example"
    assert mail.recipients == ("ada@example.example",)
    assert mail.message["subject"] == "hello"
    assert "Grüße".encode() in mail.content


@pytest.mark.parametrize("stage", ["connect", "ehlo", "mail", "rcpt", "data", "receiving", "body"])
def test_a_dropped_connection_is_an_error_for_the_client(sink: SmtpSink, stage: Stage) -> None:
    sink.answer(stage, DROP)
    with pytest.raises((smtplib.SMTPException, OSError)):
        _send(sink)
    # Only a message that had arrived completely is kept.
    assert len(sink.mails) == (1 if stage == "body" else 0)


@pytest.mark.parametrize("stage", ["mail", "rcpt", "data", "body"])
def test_a_scripted_code_is_answered_once(sink: SmtpSink, stage: Stage) -> None:
    sink.answer(stage, "451 4.3.0 later")
    with pytest.raises(smtplib.SMTPException) as caught:
        _send(sink)
    assert "later" in str(caught.value)
    assert sink.mails == []
    _send(sink)
    assert len(sink.mails) == 1


def test_an_answer_can_be_meant_for_one_recipient_only(sink: SmtpSink) -> None:
    sink.answer("rcpt", "550 5.1.1 no such user", when="bob@", times=None)
    _send(sink)
    with pytest.raises(smtplib.SMTPRecipientsRefused):
        _send(sink, "bob@example.example")
    assert [mail.recipients for mail in sink.mails] == [("ada@example.example",)]


def test_a_login_is_asked_for_and_checked(make_sink: MakeSink) -> None:
    sink = make_sink(login=("shop", "p^V&X@:/?#"))
    with smtplib.SMTP("127.0.0.1", sink.port, timeout=10) as client:
        with pytest.raises(smtplib.SMTPAuthenticationError):
            client.login("shop", "wrong")
        client.login("shop", "p^V&X@:/?#")
