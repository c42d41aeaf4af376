"""SMTP in private: STARTTLS and smtps against a server with a certificate of its own."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from aiosmtpd.controller import Controller

from engine.delivery.kinds.base import TLS_FAILED, Accepted, Letter, Rejected
from engine.delivery.kinds.smtp import Smtp
from engine.delivery.smtp_address import read_address
from tests.support.waiting import free_port

# A key for the loopback interface alone, of a certificate that nobody but these tests trusts.
CERTIFICATE: Final = Path(__file__).parents[3] / "support" / "localhost.pem"
LETTER: Final = Letter("msg_1", "a@acme.example", "b@people.example", b"Subject: x\r\n\r\ny\r\n")


class Handler:
    """Takes everything, and notes whether it came in private."""

    def __init__(self) -> None:
        self.private: list[bool] = []

    async def handle_DATA(self, server: Any, session: Any, _envelope: Any) -> str:
        secured = session.ssl is not None or server.transport.get_extra_info("ssl_object")
        self.private.append(bool(secured))
        return "250 kept"


class Server:
    """A mail server with a certificate."""

    def __init__(self, *, implicit: bool) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        self.handler = Handler()
        self.controller = Controller(
            self.handler,
            hostname="127.0.0.1",
            port=free_port(),
            ssl_context=context if implicit else None,
            tls_context=None if implicit else context,
        )
        self.controller.start()

    def url(self, scheme: str, query: str = "") -> str:
        return f"{scheme}://localhost:{self.controller.port}{query}"


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Return a server with STARTTLS, or with implicit TLS where the parameter says so."""
    made = Server(implicit=getattr(request, "param", False))
    yield made
    made.controller.stop()


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine trust the certificate."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


def send(url: str) -> Any:
    transport = Smtp(read_address(url), "here.example", seconds=20)
    try:
        return transport.transmit(LETTER, lambda: True)
    finally:
        transport.close()


def test_privacy_is_taken_where_it_is_offered(server: Server) -> None:
    assert isinstance(send(server.url("smtp")), Accepted)
    assert server.handler.private == [True]


def test_off_means_off(server: Server) -> None:
    assert isinstance(send(server.url("smtp", "?starttls=off")), Accepted)
    assert server.handler.private == [False]


def test_required_means_a_trusted_certificate(server: Server) -> None:
    answer = send(server.url("smtp", "?starttls=required"))
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (TLS_FAILED, True)
    assert server.handler.private == []


@pytest.mark.usefixtures("trusted")
def test_required_is_content_with_a_trusted_certificate(server: Server) -> None:
    assert isinstance(send(server.url("smtp", "?starttls=required")), Accepted)
    assert server.handler.private == [True]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("server", [True], indirect=True)
def test_smtps_is_private_from_the_first_byte(server: Server) -> None:
    assert isinstance(send(server.url("smtps")), Accepted)
    assert server.handler.private == [True]


@pytest.mark.parametrize("server", [True], indirect=True)
def test_smtps_trusts_no_unknown_certificate(server: Server) -> None:
    answer = send(server.url("smtps"))
    assert isinstance(answer, Rejected)
    assert answer.code == TLS_FAILED
