"""Public ids and secrets: random, opaque, safe in URLs (decision G5)."""

import binascii
import json
import re
import secrets
import string
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

ALPHABET: Final = string.ascii_letters + string.digits
PUBLIC_ID_LENGTH: Final = 22
# A random byte becomes a letter or digit; the bytes that would favour some of them are dropped.
_LETTERS: Final = bytes(ord(ALPHABET[byte % len(ALPHABET)]) for byte in range(256))
_UNEVEN: Final = bytes(range(256 - 256 % len(ALPHABET), 256))
_PUBLIC_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)


def new_public_id() -> str:
    """Return a fresh public id: 22 letters and digits, about 131 random bits."""
    return new_public_ids(1)[0]


def new_public_ids(count: int) -> list[str]:
    """Return fresh public ids; one read of random bytes for all of them."""
    letters = ""
    while len(letters) < count * PUBLIC_ID_LENGTH:
        drawn = secrets.token_bytes(count * PUBLIC_ID_LENGTH + 10)
        letters += drawn.translate(_LETTERS, _UNEVEN).decode()
    return [
        letters[start : start + PUBLIC_ID_LENGTH]
        for start in range(0, count * PUBLIC_ID_LENGTH, PUBLIC_ID_LENGTH)
    ]


def is_public_id(text: str) -> bool:
    """Return whether `text` can be a public id at all; anything else is asked of no database."""
    return _PUBLIC_ID.fullmatch(text) is not None


def new_secret(prefix: str = "") -> str:
    """Return a fresh secret of 43 characters behind `prefix`; shown once, stored hashed."""
    return prefix + secrets.token_urlsafe(32)


def write_cursor(*parts: str | int) -> str:
    """Return an opaque page cursor over `parts` (the keyset of the last row shown)."""
    return (
        urlsafe_b64encode(json.dumps([str(part) for part in parts]).encode()).decode().rstrip("=")
    )


def read_cursor(cursor: str, parts: int) -> tuple[str, ...] | None:
    """Return the `parts` strings that `write_cursor` took, or None for a text it never wrote."""
    try:
        found = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        return None
    if not isinstance(found, list) or len(found) != parts:
        return None
    return tuple(found) if all(isinstance(part, str) for part in found) else None
