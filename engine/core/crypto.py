"""Secrets at rest: sealed under a key that is derived from the installation's own, per purpose.

AES-256-GCM; what was sealed for one purpose opens for no other. With another installation key, or
after a byte was changed, nothing opens: the caller says so to a person (decision 41).
"""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_FORM: Final = "v1."
_NONCE: Final = 12
_KEY_BYTES: Final = 32

_secret_key: str | None = None


def install(secret_key: str) -> None:
    """Make `secret_key`, the installation's, the root of this process's keys."""
    global _secret_key
    _secret_key = secret_key


def seal(text: str, purpose: str) -> str:
    """Return `text` sealed for `purpose`, as ASCII text; each time another one."""
    nonce = secrets.token_bytes(_NONCE)
    sealed = _cipher(_root(), purpose).encrypt(nonce, text.encode(), purpose.encode())
    return _FORM + urlsafe_b64encode(nonce + sealed).decode()


def unseal(sealed: str, purpose: str) -> str | None:
    """Return what `seal` took, or None where this installation did not seal it for `purpose`."""
    cipher = _cipher(_root(), purpose)
    if not sealed.startswith(_FORM):
        return None
    try:
        raw = urlsafe_b64decode(sealed[len(_FORM) :].encode())
        return cipher.decrypt(raw[:_NONCE], raw[_NONCE:], purpose.encode()).decode()
    except (ValueError, InvalidTag):
        return None


def _root() -> str:
    if _secret_key is None:
        raise LookupError("no secret key is installed; boot does that")
    return _secret_key


@lru_cache(maxsize=16)
def _cipher(root: str, purpose: str) -> AESGCM:
    derive = HKDF(SHA256(), _KEY_BYTES, salt=None, info=f"stellwerk:{purpose}".encode())
    return AESGCM(derive.derive(root.encode()))
