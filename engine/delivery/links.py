"""Addresses in mails that lead back here, signed so that nobody makes one up.

A link names its person by public ids and bears no date: it works for years, since an old mail must
still be able to end the mails (this outranks the 90 days of facts 3.5). Each kind of link has a key
of its own, derived from the installation's secret, so that one never passes for another.
"""

import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from urllib.parse import quote, urlsplit

from engine.core.ids import is_public_id

# What a preview shows in place of a person's own token; it unsubscribes nobody.
PREVIEW: Final = "preview"
_UNSUBSCRIBE: Final = "stellwerk:link:unsubscribe:1"
_SIGNATURE: Final = 22  # 132 bits in base64
_LONGEST: Final = 200


@dataclass(frozen=True)
class UnsubscribeToken:
    """Whose mails a link ends; public ids. send: the mail it stood in, None when nobody knows."""

    workspace: str
    contact: str
    send: str | None


@dataclass(frozen=True)
class Links:
    """Makes and reads the links of one installation. base_url: its public address."""

    base_url: str
    secret_key: str = field(repr=False)

    def unsubscribe(self, workspace: str, contact: str, send: str | None = None) -> str:
        """Return the address that ends marketing mail to a contact; all three are public ids."""
        payload = f"{workspace}.{contact}.{send or ''}"
        return self._address("u", f"{payload}.{self._sign(_UNSUBSCRIBE, payload)}")

    def unsubscribe_preview(self) -> str:
        """Return an address that looks like one of `unsubscribe` and ends nothing."""
        return self._address("u", PREVIEW)

    def read_unsubscribe(self, token: str) -> UnsubscribeToken | None:
        """Return what `unsubscribe` put into a token, or None for a text it never made."""
        payload, _dot, signature = token.rpartition(".")
        parts = payload.split(".")
        if len(token) > _LONGEST or not token.isascii() or len(parts) != 3:
            return None
        if not hmac.compare_digest(signature, self._sign(_UNSUBSCRIBE, payload)):
            return None
        workspace, contact, send = parts
        if not (is_public_id(workspace) and is_public_id(contact)):
            return None
        return UnsubscribeToken(workspace, contact, send or None)

    def _sign(self, purpose: str, payload: str) -> str:
        key = hmac.digest(self.secret_key.encode(), purpose.encode(), sha256)
        signature = hmac.digest(key, payload.encode(), sha256)
        return urlsafe_b64encode(signature).decode()[:_SIGNATURE]

    def _address(self, door: str, token: str) -> str:
        return f"{_in_ascii(self.base_url)}/{door}/{token}"


def _in_ascii(address: str) -> str:
    """Return an address as headers and every mail program take it."""
    if address.isascii():
        return address
    parts = urlsplit(address)
    host = (parts.hostname or "").encode("idna").decode()
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{quote(parts.path)}"
