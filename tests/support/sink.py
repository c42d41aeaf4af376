"""An SMTP server that keeps what it gets and can be told to misbehave at any stage.

Stages: `connect` (the greeting), `ehlo`, `auth`, `mail`, `rcpt`, `data` (the answer to DATA),
`receiving` (while the body comes in) and `body` (the answer to the whole message).
"""

import threading
from asyncio import WriteTransport
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, AnyStr, Final, Literal

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.support.waiting import free_port, wait_for

Stage = Literal["connect", "ehlo", "auth", "mail", "rcpt", "data", "receiving", "body"]
DROP: Final = "DROP"  # the connection is cut without an answer
HANG: Final = "HANG"  # no answer until release(), so that a test can act in between


@dataclass(frozen=True)
class Mail:
    """One message that the sink accepted."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    connection: int

    @property
    def message(self) -> EmailMessage:
        """Return the parsed message."""
        return message_from_bytes(self.content, policy=policy.default)


@dataclass
class _Rule:
    stage: Stage
    answer: str
    times: int | None
    when: str


@dataclass
class SmtpSink:
    """A running sink; see the fixture `sink`."""

    port: int = field(default_factory=free_port)
    mails: list[Mail] = field(default_factory=list)
    connections: int = 0
    refused: list[str] = field(default_factory=list)
    login: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._go_on = threading.Event()
        self.waiting = threading.Event()

    @property
    def url(self) -> str:
        """Return the address for STELLWERK_SMTP_URL."""
        who = f"{self.login[0]}:{self.login[1]}@" if self.login else ""
        return f"smtp://{who}127.0.0.1:{self.port}"

    def answer(self, stage: Stage, reply: str, *, times: int | None = 1, when: str = "") -> None:
        """Answer `reply` (a code with text, DROP or HANG) at `stage`, the next `times` times.

        times: None for ever. when: only where the argument of the command contains this text.
        """
        with self._lock:
            self._rules.append(_Rule(stage, reply, times, when))

    def release(self) -> None:
        """Let everything go on that HANG holds."""
        self._go_on.set()

    def wait_for_mails(self, count: int, seconds: float = 30.0) -> list[Mail]:
        """Return the mails once at least `count` are there."""
        wait_for(lambda: len(self.mails) >= count, f"{count} mails at the sink", seconds)
        return list(self.mails)

    def take(self, stage: Stage, argument: str = "") -> str | None:
        """Return the scripted answer for this moment, or None. Used by the server's thread."""
        with self._lock:
            for rule in self._rules:
                if rule.stage == stage and rule.when in argument and rule.times != 0:
                    rule.times = None if rule.times is None else rule.times - 1
                    self.refused.append(f"{stage} {rule.answer}")
                    return rule.answer
        return None

    def hold(self) -> None:
        """Block until release(). Used by the server's thread."""
        self.waiting.set()
        self._go_on.wait(60)


class _Server(SMTP):
    """The protocol with the scripted answers put before each stage."""

    def __init__(self, sink: SmtpSink, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sink = sink
        self.number = 0

    async def push(self, status: AnyStr) -> None:
        if self.transport is not None and not self.transport.is_closing():
            await super().push(status)

    def cut(self) -> None:
        """End the connection at once, without an answer."""
        if isinstance(self.transport, WriteTransport):
            self.transport.abort()

    async def _scripted(self, stage: Stage, argument: str = "") -> bool:
        reply = self.sink.take(stage, argument)
        if reply is None:
            return False
        if reply == HANG:
            await self.loop.run_in_executor(None, self.sink.hold)
            return False
        if reply == DROP:
            self.cut()
        else:
            await self.push(reply)
        return True

    async def _handle_client(self) -> None:
        self.sink.connections += 1
        self.number = self.sink.connections
        if await self._scripted("connect"):
            if self.transport is not None:
                self.transport.close()
            return
        await super()._handle_client()

    async def smtp_EHLO(self, hostname: str) -> None:
        if not await self._scripted("ehlo", hostname):
            await super().smtp_EHLO(hostname)

    async def smtp_AUTH(self, arg: str) -> None:
        if not await self._scripted("auth", arg):
            await super().smtp_AUTH(arg)

    async def smtp_MAIL(self, arg: str | None) -> None:
        if not await self._scripted("mail", arg or ""):
            await super().smtp_MAIL(arg)

    async def smtp_RCPT(self, arg: str | None) -> None:
        if not await self._scripted("rcpt", arg or ""):
            await super().smtp_RCPT(arg)

    async def smtp_DATA(self, arg: str) -> None:
        if await self._scripted("data"):
            return
        if self.sink.take("receiving") is not None:
            await self.push("354 End data with <CR><LF>.<CR><LF>")
            await self._reader.readline()
            self.cut()
            return
        await super().smtp_DATA(arg)


class _Handler:
    def __init__(self, sink: SmtpSink) -> None:
        self._sink = sink

    async def handle_DATA(self, server: _Server, _session: Session, envelope: Envelope) -> str:
        recipients = tuple(str(address) for address in envelope.rcpt_tos)
        content = envelope.original_content or b""
        reply = self._sink.take("body", " ".join(recipients))
        if reply == HANG:
            await server.loop.run_in_executor(None, self._sink.hold)
        elif reply is not None and reply != DROP and not reply.startswith("2"):
            return reply
        self._sink.mails.append(Mail(str(envelope.mail_from), recipients, content, server.number))
        if reply == DROP:
            # The worst case of all: the message was taken, but nobody ever says so.
            server.cut()
        return reply if reply and reply[0] == "2" else "250 2.0.0 kept"


class _Controller(Controller):
    def __init__(self, sink: SmtpSink) -> None:
        self._sink = sink
        super().__init__(_Handler(sink), hostname="127.0.0.1", port=sink.port)

    def factory(self) -> SMTP:
        return _Server(
            self._sink,
            self.handler,
            hostname="sink.example",
            data_size_limit=50 * 2**20,
            authenticator=self._check if self._sink.login else None,
            auth_required=self._sink.login is not None,
            auth_require_tls=False,
            enable_SMTPUTF8=True,
            loop=self.loop,
        )

    def _check(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _how: str, given: Any
    ) -> AuthResult:
        expected = self._sink.login
        right = isinstance(given, LoginPassword) and expected is not None and (
            given.login.decode(), given.password.decode()
        ) == expected  # fmt: skip
        return AuthResult(success=right, handled=right)


MakeSink = Callable[..., SmtpSink]


@pytest.fixture
def make_sink() -> Iterator[MakeSink]:
    """Return a factory of sinks, for tests that need a login or more than one server."""
    controllers: list[tuple[_Controller, SmtpSink]] = []

    def make(login: tuple[str, str] | None = None) -> SmtpSink:
        made = SmtpSink(login=login)
        controller = _Controller(made)
        controller.start()
        controllers.append((controller, made))
        return made

    yield make
    for controller, made in controllers:
        made.release()
        controller.stop()


@pytest.fixture
def sink(make_sink: MakeSink) -> SmtpSink:
    """Return a running SMTP sink on a private port."""
    return make_sink()
