"""Mail by SMTP (STELLWERK_SMTP_URL)."""

from collections.abc import Callable

from engine.core.outcome import Refused
from engine.core.settings import Settings
from engine.delivery.kinds.base import Delivery, Letter


class Smtp:
    """Sends letters to one mail server over reused connections."""

    @classmethod
    def from_settings(cls, settings: Settings) -> "Smtp":
        """Return the transport of an installation."""
        raise NotImplementedError

    def transmit(self, letter: Letter, hand_over: Callable[[], bool]) -> Delivery:
        """Send one letter."""
        raise NotImplementedError

    def handshake(self) -> str | Refused:
        """Connect, greet, secure and sign in."""
        raise NotImplementedError

    def close(self) -> None:
        """Close idle connections."""
