"""Mail by SMTP (STELLWERK_SMTP_URL): reused connections, and each answer sorted into a code.

Refused before the body, or lost before it: known, and temporary where the server says 4xx. Lost
behind the body: nobody knows (decision C3).
"""

import socket
import time
from collections.abc import Callable
from threading import Lock
from typing import Final
from urllib.parse import urlsplit

from engine.core.outcome import Refused
from engine.core.settings import Settings
from engine.delivery.connection import (
    Answer,
    Connection,
    Lost,
    SignInFailed,
    TlsFailed,
    Unwilling,
)
from engine.delivery.kinds.base import (
    AUTH_FAILED,
    CONNECTION_LOST,
    CONTENT_REJECTED,
    INVALID_RECIPIENT,
    INVALID_SENDER,
    LETTER_SECONDS,
    RATE_LIMIT,
    SERVER_ERROR,
    SMTPUTF8_UNSUPPORTED,
    TLS_FAILED,
    Accepted,
    Delivery,
    Letter,
    NotHandedOver,
    Rejected,
    Unanswered,
)
from engine.delivery.smtp_address import SmtpAddress, read_address

# Servers close a conversation that says too much or nothing for too long; we do so first.
MESSAGES_PER_CONNECTION: Final = 100
_CHECK_AFTER_SECONDS: Final = 10.0
_DROP_AFTER_SECONDS: Final = 120.0
_CHECK_SECONDS: Final = 5.0
_SIGN_IN_CODES: Final = frozenset({530, 534, 535, 538})
_SLOW_DOWN_CODES: Final = frozenset({421, 450})


class Smtp:
    """Sends letters to one mail server over reused connections; used by many threads."""

    def __init__(self, address: SmtpAddress, helo: str, seconds: float = LETTER_SECONDS) -> None:
        """seconds: the longest one letter may take; helo: the name we greet with."""
        self._address = address
        self._helo = helo
        self._seconds = seconds
        self._idle: list[Connection] = []
        self._lock = Lock()

    @classmethod
    def from_settings(cls, settings: Settings) -> "Smtp":
        """Return the transport of an installation whose settings name a mail server."""
        url = settings.smtp_url.get_secret_value() if settings.smtp_url else ""
        return cls(read_address(url), _helo(settings.base_url))

    def transmit(self, letter: Letter, hand_over: Callable[[], bool]) -> Delivery:
        """Send one letter; see the contract in `base`."""
        deadline = time.monotonic() + self._seconds
        connection = self._offer(letter, deadline)
        if isinstance(connection, Rejected):
            return connection
        keep = False
        try:
            # Between 354 and the body there is no way back but hanging up.
            if not hand_over():
                return NotHandedOver()
            try:
                answer = connection.body(letter.content)
            except Lost as error:
                return Unanswered(str(error))
            keep = answer.code != 421 and answer.known
            return _verdict(answer)
        finally:
            self._give_back(connection, keep=keep)

    def handshake(self) -> str | Refused:
        """Connect, greet, secure and sign in, as for a letter."""
        opened = self._open(time.monotonic() + self._seconds)
        if isinstance(opened, Rejected):
            params = {"code": opened.code, "reply": opened.reply}
            return Refused("mail_server_unreachable", params=params)
        opened.quit()
        how = "with TLS" if opened.private else "without TLS"
        return f"{self._address.host}:{self._address.port} {how}: {opened.greeting.whole}"

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.quit()

    def _offer(self, letter: Letter, deadline: float) -> Connection | Rejected:
        """Return a connection that waits for the body, or why there is none.

        A reused connection may have been closed meanwhile: then a new one is tried, once.
        """
        connection = self._reuse(deadline)
        if connection is not None:
            try:
                return self._begin(connection, letter, deadline)
            except Lost:
                connection.close()
        opened = self._open(deadline)
        if isinstance(opened, Rejected):
            return opened
        try:
            return self._begin(opened, letter, deadline)
        except Lost as error:
            opened.close()
            return Rejected(CONNECTION_LOST, str(error), temporary=True)

    def _begin(
        self, connection: Connection, letter: Letter, deadline: float
    ) -> Connection | Rejected:
        """Say everything before the body; the connection is given back where the answer is no."""
        connection.start(deadline)
        if letter.utf8 and not connection.supports("smtputf8"):
            self._give_back(connection, keep=True)
            return Rejected(SMTPUTF8_UNSUPPORTED, "", temporary=False)
        said = connection.mail(letter.sender, _options(connection, letter))
        refusal = INVALID_SENDER
        if said.good:
            said, refusal = connection.rcpt(letter.recipient), INVALID_RECIPIENT
        if said.good:
            said, refusal = connection.data(), CONTENT_REJECTED
        if not said.go_on:
            if said.code == 421 and connection.messages:
                raise Lost(said.whole)
            self._give_back(connection, keep=said.known and said.code != 421, reset=True)
            return _rejected(said, refusal)
        return connection

    def _open(self, deadline: float) -> Connection | Rejected:
        try:
            return Connection(self._address, self._helo, deadline)
        except Lost as error:
            return Rejected(CONNECTION_LOST, str(error), temporary=True)
        except TlsFailed as error:
            return Rejected(TLS_FAILED, str(error), temporary=True)
        except SignInFailed as error:
            return Rejected(AUTH_FAILED, str(error), temporary=False)
        except Unwilling as error:
            # It says no to us, not to the letter: that may change.
            return Rejected(_temporary_code(error.answer), error.answer.whole, temporary=True)

    def _reuse(self, deadline: float) -> Connection | None:
        while (connection := self._pop()) is not None:
            silent = time.monotonic() - connection.used_at
            if silent < _CHECK_AFTER_SECONDS:
                return connection
            try:
                connection.start(min(deadline, time.monotonic() + _CHECK_SECONDS))
                if silent < _DROP_AFTER_SECONDS and connection.noop().good:
                    return connection
            except Lost:
                pass
            connection.close()
        return None

    def _pop(self) -> Connection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: Connection, *, keep: bool, reset: bool = False) -> None:
        if keep and reset:
            try:
                keep = connection.reset().good
            except Lost:
                keep = False
        if not keep:
            connection.close()
        elif connection.messages >= MESSAGES_PER_CONNECTION:
            connection.quit()
        else:
            with self._lock:
                self._idle.append(connection)


def _options(connection: Connection, letter: Letter) -> list[str]:
    options = []
    if connection.supports("size"):
        options.append(f"SIZE={len(letter.content)}")
    if letter.utf8:
        options.append("SMTPUTF8")
    return options


def _verdict(answer: Answer) -> Delivery:
    """Return what the answer to the whole message means."""
    if answer.good:
        return Accepted(answer.whole)
    if not answer.known:
        return Unanswered(answer.whole)
    return _rejected(answer, CONTENT_REJECTED)


def _rejected(answer: Answer, refusal: str) -> Rejected:
    """Return the known no of a server. refusal: what a 5xx means at this point."""
    if answer.code < 500:
        return Rejected(_temporary_code(answer), answer.whole, temporary=True)
    if answer.code in _SIGN_IN_CODES:
        refusal = AUTH_FAILED
    elif answer.text.startswith("5.1.") and refusal == CONTENT_REJECTED:
        refusal = INVALID_RECIPIENT
    return Rejected(refusal, answer.whole, temporary=False)


def _temporary_code(answer: Answer) -> str:
    said = answer.text.lower()
    slow_down = (
        answer.code in _SLOW_DOWN_CODES
        or said.startswith("4.7.")
        or "rate" in said
        or "too many" in said
    )
    return RATE_LIMIT if slow_down else SERVER_ERROR


def _helo(base_url: str) -> str:
    """Return the name we greet with: our public host, else the machine's name.

    Never asks the name service, which may take seconds where there is none.
    """
    public = urlsplit(base_url).hostname or ""
    for name in (public, socket.gethostname()):
        if "." in name and not name.replace(".", "").isdigit() and ":" not in name:
            return name
    return "[127.0.0.1]"
