"""Where mail goes: what STELLWERK_SMTP_URL spells."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

STARTTLS_MODES: Final = ("opportunistic", "required", "off")


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
    """Return the address that STELLWERK_SMTP_URL spells; raises ValueError saying what is wrong.

    Without a port: 465 for smtps, 587 with a user, else 25.
    """
    parts = urlsplit(url)
    query = parse_qs(parts.query, keep_blank_values=True)
    starttls = query.pop("starttls", ["opportunistic"])[-1]
    if starttls not in STARTTLS_MODES:
        raise ValueError(f"knows starttls={', '.join(STARTTLS_MODES)}")
    if query:
        raise ValueError(f"knows no {', '.join(sorted(query))}")
    if not parts.hostname:
        raise ValueError("names no host")
    implicit = parts.scheme == "smtps"
    user = unquote(parts.username) if parts.username else None
    usual = 465 if implicit else 587 if user else 25
    return SmtpAddress(
        host=parts.hostname,
        port=parts.port or usual,
        user=user,
        password=unquote(parts.password or ""),
        starttls="off" if implicit else starttls,
        implicit_tls=implicit,
    )
