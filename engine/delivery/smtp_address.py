"""Where mail goes: what STELLWERK_SMTP_URL spells."""

from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from engine.core.settings import STARTTLS


@dataclass(frozen=True)
class SmtpAddress:
    """Where mail goes. starttls: opportunistic, required or off; implicit_tls: smtps."""

    host: str
    port: int
    user: str | None
    password: str | None
    starttls: str
    implicit_tls: bool


def read_address(url: str) -> SmtpAddress:
    """Return the address that STELLWERK_SMTP_URL spells; the settings have judged it.

    Without a port: 465 for smtps, 587 with a user, else 25.
    """
    parts = urlsplit(url)
    starttls = parse_qs(parts.query).get("starttls", STARTTLS[:1])[-1]
    implicit = parts.scheme == "smtps"
    user = unquote(parts.username) if parts.username else None
    usual = 465 if implicit else 587 if user else 25
    return SmtpAddress(
        host=parts.hostname or "",
        port=parts.port or usual,
        user=user,
        password=unquote(parts.password or ""),
        starttls="off" if implicit else starttls,
        implicit_tls=implicit,
    )
