"""Public ids and secrets: random, opaque, safe in URLs (decision G5)."""

import secrets
import string
from typing import Final

ALPHABET: Final = string.ascii_letters + string.digits
PUBLIC_ID_LENGTH: Final = 22


def new_public_id() -> str:
    """Return a fresh public id: 22 letters and digits, about 131 random bits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(PUBLIC_ID_LENGTH))


def new_secret(prefix: str = "") -> str:
    """Return a fresh secret of 43 characters behind `prefix`; shown once, stored hashed."""
    return prefix + secrets.token_urlsafe(32)
