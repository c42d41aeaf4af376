"""Signing in to a mail server, required privacy, and the handshake of `doctor`."""

from urllib.parse import quote

import pytest

from engine.core.outcome import Refused
from engine.core.settings import Settings
from engine.delivery.kinds import handshake, transport_for
from engine.delivery.kinds.base import (
    AUTH_FAILED,
    CONNECTION_LOST,
    TLS_FAILED,
    Accepted,
    Rejected,
)
from engine.delivery.kinds.smtp import Smtp
from tests.engine.delivery.kinds.letters import HandOver, MakeSmtp, letter
from tests.support.sink import MakeSink, SmtpSink
from tests.support.waiting import free_port


@pytest.mark.parametrize(
    "login", [("team", "secret"), ("team@acme.example", "p@ss:w/rd?#"), ("jörg", "päss wörd")]
)
def test_it_signs_in(
    make_sink: MakeSink, make_smtp: MakeSmtp, login: tuple[str, str], settings: Settings
) -> None:
    sink = make_sink(login)
    user, password = quote(login[0], safe=""), login[1]
    url = f"smtp://{user}:{password}@127.0.0.1:{sink.port}"
    given = Settings.model_validate({**settings.model_dump(), "smtp_url": url})
    transport = transport_for(given)
    try:
        assert isinstance(transport.transmit(letter(), HandOver()), Accepted)
    finally:
        transport.close()


def test_a_wrong_password_is_no_matter_of_time(make_sink: MakeSink, make_smtp: MakeSmtp) -> None:
    sink = make_sink(("team", "secret"))
    answer = make_smtp(f"smtp://team:wrong@127.0.0.1:{sink.port}").transmit(letter(), HandOver())
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (AUTH_FAILED, False)
    assert "wrong" not in answer.reply


def test_required_privacy_is_not_given_up(sink: SmtpSink, make_smtp: MakeSmtp) -> None:
    answer = make_smtp(f"{sink.url}?starttls=required").transmit(letter(), HandOver())
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (TLS_FAILED, True)
    assert sink.mails == []


def test_a_plain_server_is_no_smtps_server(sink: SmtpSink, make_smtp: MakeSmtp) -> None:
    transport = make_smtp(f"smtps://127.0.0.1:{sink.port}", seconds=5)
    answer = transport.transmit(letter(), HandOver())
    assert isinstance(answer, Rejected)
    assert answer.code in {TLS_FAILED, CONNECTION_LOST}


def test_an_international_address_needs_a_server_that_knows_it(
    sink: SmtpSink, transport: Smtp
) -> None:
    wanted = letter(recipient="jörg@people.example", utf8=True)
    assert isinstance(transport.transmit(wanted, HandOver()), Accepted)
    assert sink.mails[0].recipients == ("jörg@people.example",)


def test_a_handshake_says_who_answered(sink: SmtpSink, settings: Settings) -> None:
    given = Settings.model_validate({**settings.model_dump(), "smtp_url": sink.url})
    answer = handshake(given)
    assert isinstance(answer, str)
    assert "without TLS: 220" in answer
    assert sink.mails == []


def test_a_handshake_with_nobody_says_why(settings: Settings) -> None:
    url = f"smtp://127.0.0.1:{free_port()}"
    given = Settings.model_validate({**settings.model_dump(), "smtp_url": url})
    answer = handshake(given)
    assert isinstance(answer, Refused)
    assert answer.reason == "mail_server_unreachable"
    assert answer.params["code"] == CONNECTION_LOST
