"""One conversation with a mail server, under one deadline for everything that is said in it.

Built on smtplib's low level, because the moment between the server's 354 and the body belongs to
the caller: all that is refused before it may safely be tried again (decision C3).
"""

import base64
import re
import smtplib
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any, Final

from engine.core import faults
from engine.delivery.compose.addresses import one_line
from engine.delivery.smtp_address import SmtpAddress

_CONNECT_SECONDS: Final = 20.0
_LONGEST_ANSWER: Final = 65_536
_LEADING_DOT: Final = re.compile(rb"(?m)^\.")


class Lost(Exception):
    """The conversation broke off, or ran out of time."""


class TlsFailed(Exception):
    """The conversation could not be made as private as the setting demands."""


class SignInFailed(Exception):
    """The server did not take user and password."""


class Unwilling(Exception):
    """The server answered its greeting or EHLO with a no."""

    def __init__(self, answer: "Answer") -> None:
        super().__init__(answer.text)
        self.answer = answer


@dataclass(frozen=True)
class Answer:
    """A reply of the server: its code, and its text on one line."""

    code: int
    text: str

    @property
    def whole(self) -> str:
        """Return code and text."""
        return f"{self.code} {self.text}".strip()

    @property
    def good(self) -> bool:
        """Whether the server said yes."""
        return 200 <= self.code < 300

    @property
    def known(self) -> bool:
        """Whether it is an answer at all: yes, not now, or no."""
        return self.good or 400 <= self.code < 600

    @property
    def go_on(self) -> bool:
        """Whether the server waits for the body."""
        return self.code == 354


class _Lines:
    """The server's lines, read under the conversation's deadline; a slow drip ends it too."""

    def __init__(self, client: "_Client") -> None:
        self._client = client
        self._buffer = b""
        self.left = _LONGEST_ANSWER

    def readline(self, limit: int) -> bytes:
        """Return the next line, or what there is when the server hung up."""
        sock = self._client.sock
        while b"\n" not in self._buffer and len(self._buffer) < limit and sock is not None:
            sock.settimeout(self._client.remaining())
            chunk = sock.recv(4096)
            if not chunk:
                break
            self._buffer += chunk
        end = self._buffer.find(b"\n") + 1 or len(self._buffer)
        line, self._buffer = self._buffer[:end], self._buffer[end:]
        self.left -= len(line)
        if self.left < 0:
            raise OSError("the answer is too long")
        return line

    def close(self) -> None:
        """The socket is closed by its owner."""


class _Client(smtplib.SMTP):
    """smtplib's client, with one deadline over all its reads and writes."""

    deadline: float = 0.0
    file: Any
    sock: socket.socket | None

    def __init__(self, address: SmtpAddress, helo: str, deadline: float) -> None:
        super().__init__(local_hostname=helo)
        self._address = address
        self._host = address.host
        self.deadline = deadline

    def remaining(self) -> float:
        """Return the seconds left; raises TimeoutError when there are none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for this message is used up")
        return left

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002 - signature of the library
        sock = socket.create_connection((host, port), min(_CONNECT_SECONDS, self.remaining()))
        if not self._address.implicit_tls:
            return sock
        return ssl.create_default_context().wrap_socket(sock, server_hostname=host)

    def send(self, s: Any) -> None:
        """Send under the deadline."""
        if self.sock is not None:
            self.sock.settimeout(self.remaining())
        super().send(s)

    def getreply(self) -> tuple[int, bytes]:
        """Read one reply under the deadline."""
        if self.file is None:
            self.file = _Lines(self)
        self.file.left = _LONGEST_ANSWER
        return super().getreply()


class Connection:
    """An open, secured and signed-in conversation. One thread at a time."""

    def __init__(self, address: SmtpAddress, helo: str, deadline: float) -> None:
        """Open it; raises Lost, TlsFailed, SignInFailed or Unwilling."""
        self._client = _Client(address, helo, deadline)
        self.messages = 0
        self.used_at = time.monotonic()
        self.private = address.implicit_tls
        opened = False
        try:
            self._open(address)
            opened = True
        except ssl.SSLError as error:
            raise TlsFailed(error.reason or "TLS failed") from error
        except (OSError, smtplib.SMTPServerDisconnected) as error:
            raise Lost(one_line(str(error)) or type(error).__name__) from error
        finally:
            if not opened:
                self.close()

    def _open(self, address: SmtpAddress) -> None:
        self.greeting = _answer(self._client.connect(address.host, address.port))
        if not self.greeting.good:
            raise Unwilling(self.greeting)
        self._greet()
        if address.starttls != "off":
            self._secure(required=address.starttls == "required")
        if address.user is not None:
            self._sign_in(address.user, address.password or "")

    def _greet(self) -> None:
        answer = _answer(self._client.ehlo())
        if not answer.good:
            answer = _answer(self._client.helo())
        if not answer.good:
            raise Unwilling(answer)

    def _secure(self, *, required: bool) -> None:
        if not self._client.has_extn("starttls"):
            if required:
                raise TlsFailed("the server offers no STARTTLS")
            return
        context = ssl.create_default_context()
        if not required:
            # Better read by nobody on the way than by everybody; who must be sure says `required`.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        try:
            answer = _answer(self._client.starttls(context=context))
        except smtplib.SMTPResponseException as error:
            answer = Answer(error.smtp_code, _text(error.smtp_error))
        if not answer.good:
            raise TlsFailed(answer.whole)
        self.private = True
        self._greet()

    def _sign_in(self, user: str, password: str) -> None:
        try:
            if (user + password).isascii():
                self._client.login(user, password)
                return
            # smtplib signs in with ASCII only.
            secret = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
            answer = _answer(self._client.docmd("AUTH", f"PLAIN {secret}"))
        except smtplib.SMTPAuthenticationError as error:
            answer = Answer(error.smtp_code, _text(error.smtp_error))
        except smtplib.SMTPServerDisconnected:
            raise
        except smtplib.SMTPException as error:
            raise SignInFailed(one_line(str(error))) from error
        if 400 <= answer.code < 500:
            raise Unwilling(answer)
        if not answer.good:
            raise SignInFailed(answer.whole)

    def supports(self, extension: str) -> bool:
        """Return whether the server announced an extension."""
        return self._client.has_extn(extension)

    def start(self, deadline: float) -> None:
        """Begin a message that has until `deadline` (monotonic seconds)."""
        self._client.deadline = deadline
        self.used_at = time.monotonic()

    def mail(self, sender: str, options: list[str]) -> Answer:
        """Name the sender."""
        self._client.command_encoding = "ascii"
        return self._said(lambda: self._client.mail(sender, options))

    def rcpt(self, recipient: str) -> Answer:
        """Name the recipient."""
        return self._said(lambda: self._client.rcpt(recipient))

    def data(self) -> Answer:
        """Ask to send the body; 354 means go ahead."""
        return self._said(lambda: self._client.docmd("DATA"))

    def body(self, content: bytes) -> Answer:
        """Send the body and its end, and wait for the answer to the whole message."""
        self.messages += 1
        ended = content if content.endswith(b"\r\n") else content + b"\r\n"
        return self._said(lambda: self._sent(_LEADING_DOT.sub(b"..", ended) + b".\r\n"))

    def _sent(self, content: bytes) -> tuple[int, bytes]:
        self._client.send(content)
        faults.point("send.left")
        return self._client.getreply()

    def noop(self) -> Answer:
        """Ask whether the server is still there."""
        return self._said(self._client.noop)

    def reset(self) -> Answer:
        """Forget a message that was begun."""
        return self._said(self._client.rset)

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def quit(self) -> None:
        """Say goodbye and hang up."""
        try:
            self._client.deadline = time.monotonic() + 1
            self._client.quit()
        except (OSError, smtplib.SMTPException):
            self._client.close()

    def _said(self, act: Any) -> Answer:
        try:
            return _answer(act())
        except (OSError, smtplib.SMTPServerDisconnected) as error:
            raise Lost(one_line(str(error)) or type(error).__name__) from error


def _answer(reply: tuple[int, bytes]) -> Answer:
    return Answer(reply[0], _text(reply[1]))


def _text(said: bytes | str) -> str:
    return one_line(said.decode("utf-8", "replace") if isinstance(said, bytes) else said)
