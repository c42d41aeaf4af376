"""Mail addresses as headers and envelopes need them: no line breaks, domains in ASCII."""

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from typing import Final

_LONGEST: Final = 254
_LONGEST_LOCAL: Final = 64
_LONGEST_DOMAIN: Final = 253
# White space, controls, and what would need a quoted local part: a list of addresses never fits in.
_FORBIDDEN: Final = re.compile(r"[\s\x00-\x1f\x7f<>()\[\],;:\\\"@]")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")
_LABEL: Final = re.compile(r"^(?!-)[a-z0-9_-]{1,63}(?<!-)$")


@dataclass(frozen=True)
class MailAddress:
    """An address split at its @. domain: in ASCII and lower case."""

    local: str
    domain: str

    @property
    def spec(self) -> str:
        """Return the address for an envelope."""
        return f"{self.local}@{self.domain}"

    @property
    def utf8(self) -> bool:
        """Whether it can only travel where SMTPUTF8 is spoken."""
        return not self.local.isascii()


def split_address(text: str) -> MailAddress | None:
    """Return the address that `text` spells, or None where it is none that mail can use.

    Spaces around it are cut; a line break or another control character anywhere makes it none.
    """
    if _CONTROLS.search(text):
        return None
    local, at, domain = text.strip().rpartition("@")
    name = ascii_domain(domain)
    if not at or not local or name is None or len(text) > _LONGEST:
        return None
    if _FORBIDDEN.search(local) or len(local.encode("utf-8", "replace")) > _LONGEST_LOCAL:
        return None
    if local.startswith(".") or local.endswith(".") or ".." in local or not _encodable(local):
        return None
    return MailAddress(local, name)


def ascii_domain(domain: str) -> str | None:
    """Return a host name in ASCII and lower case, or None where it is none."""
    try:
        name = domain.strip().rstrip(".").lower().encode("idna").decode("ascii")
    except UnicodeError:
        return None
    labels = name.split(".")
    if not name or len(name) > _LONGEST_DOMAIN or not all(map(_LABEL.match, labels)):
        return None
    return name


def one_line(text: str) -> str:
    """Return `text` on one line, without control characters, for a header."""
    return " ".join(_CONTROLS.sub(" ", text).encode("utf-8", "replace").decode().split())


def is_one_line(text: str) -> bool:
    """Return whether a header can take `text` as it is: no line break, no control, no half."""
    return _CONTROLS.search(text) is None and _encodable(text)


def header_address(name: str, address: MailAddress) -> Address | None:
    """Return the address with its display name for a header, or None where no header takes it."""
    try:
        return Address(one_line(name), address.local, address.domain)
    except (ValueError, IndexError, HeaderParseError):
        return None


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
