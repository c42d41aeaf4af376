"""Transports: one file a kind, registered here by name."""

from collections.abc import Callable
from typing import Final

from engine.core.outcome import Refused
from engine.core.registry import Registry
from engine.core.settings import Settings
from engine.delivery.kinds.base import Transport
from engine.delivery.kinds.outbox import Outbox
from engine.delivery.kinds.smtp import Smtp

TRANSPORTS: Final[Registry[Callable[[Settings], Transport]]] = Registry(
    "transport", {"smtp": Smtp.from_settings, "outbox": Outbox.from_settings}
)


def transport_name(settings: Settings) -> str:
    """Return the transport an installation uses: `smtp` where an address is set, else `outbox`."""
    return "outbox" if settings.smtp_url is None else "smtp"


def transport_for(settings: Settings) -> Transport:
    """Return the transport of an installation; opens nothing yet."""
    return TRANSPORTS.get(transport_name(settings))(settings)


def handshake(settings: Settings) -> str | Refused:
    """Try the installation's transport without sending, for `doctor`."""
    transport = transport_for(settings)
    try:
        return transport.handshake()
    finally:
        transport.close()


__all__ = ["TRANSPORTS", "handshake", "transport_for", "transport_name"]
