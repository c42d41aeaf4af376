"""The contract of a transport: one letter goes out, and what became of it comes back as a value.

A transport never touches the database. The moment of no return is the caller's: `hand_over` is
called just before the body leaves, and where it answers False nothing may leave (decision C3).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from engine.core.outcome import Refused

# Codes of failed sends (facts 4.15, decision C3). Words for them stand at the rim.
RATE_LIMIT: Final = "RATE_LIMIT"
SERVER_ERROR: Final = "SERVER_ERROR"
CONNECTION_LOST: Final = "CONNECTION_LOST"
INVALID_RECIPIENT: Final = "INVALID_RECIPIENT"
INVALID_SENDER: Final = "INVALID_SENDER"
CONTENT_REJECTED: Final = "CONTENT_REJECTED"
AUTH_FAILED: Final = "AUTH_FAILED"
SMTPUTF8_UNSUPPORTED: Final = "SMTPUTF8_UNSUPPORTED"
TLS_FAILED: Final = "TLS_FAILED"
OUTBOX_UNWRITABLE: Final = "OUTBOX_UNWRITABLE"
UNKNOWN: Final = "UNKNOWN"

# The longest a transport may take for one letter, connecting included (decision A5).
LETTER_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Letter:
    """One composed message. content: the bytes with CRLF; utf8: it needs SMTPUTF8 on its way.

    sender, recipient: envelope addresses, domains already in ASCII.
    """

    public_id: str
    sender: str
    recipient: str
    content: bytes
    utf8: bool = False


@dataclass(frozen=True)
class Accepted:
    """The other side took responsibility; `reply` is what it said."""

    reply: str


@dataclass(frozen=True)
class Rejected:
    """A known no: nothing was delivered. temporary: worth another try later."""

    code: str
    reply: str
    temporary: bool


@dataclass(frozen=True)
class Unanswered:
    """The body left and no answer came: nobody knows, and it must not be sent again by itself."""

    reply: str


@dataclass(frozen=True)
class NotHandedOver:
    """`hand_over` answered False, so nothing left."""


Delivery = Accepted | Rejected | Unanswered | NotHandedOver


class Transport(Protocol):
    """A way out. Used by many threads at once."""

    def transmit(self, letter: Letter, hand_over: Callable[[], bool]) -> Delivery:
        """Send one letter within LETTER_SECONDS.

        Calls `hand_over` exactly once, when everything but the body has been accepted.
        """
        ...

    def handshake(self) -> str | Refused:
        """Try the way without sending: a line for the operator, or why it does not work."""
        ...

    def close(self) -> None:
        """Let go of connections; the transport may be used again afterwards."""
        ...
