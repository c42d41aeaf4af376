"""Password hashes by argon2id: hash, verify, renew. Leaves rates and words to others."""

import unicodedata
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# Longer input only costs time; nobody types more.
MAX_LENGTH: Final = 1024
MIN_LENGTH: Final = 8

_hasher: Final = PasswordHasher()
# The hash of a secret nobody knows, made with the same parameters: an unknown account costs the
# same work as a known one (SEC-03). A test keeps the parameters in step.
_NOBODY: Final = (
    "$argon2id$v=19$m=65536,t=3,p=4$"
    "NMSTU+vCFzheU9DAV/oUog$hCbVf/ufnBjjmQAK0kk+n5z2iRBDBwlVa8SH/HEKM5c"
)


def hash_password(password: str) -> str:
    """Return the argon2id hash to store."""
    return _hasher.hash(_same(password))


def verify(stored: str | None, password: str) -> bool:
    """Return whether `password` fits `stored`; None (no such account) takes as long and says no."""
    try:
        _hasher.verify(stored or _NOBODY, _same(password)[: MAX_LENGTH + 1])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def needs_rehash(stored: str) -> bool:
    """Return whether `stored` was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def _same(password: str) -> str:
    # One keyboard writes ü as one character, another as two; both mean the same password.
    return unicodedata.normalize("NFC", password)
