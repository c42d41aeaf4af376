"""E-mail addresses as identity keys: what counts as one, and its one spelling (facts 3.1)."""

import hashlib
from typing import Final

from email_validator import EmailNotValidError, validate_email

from engine.core.text import normalise_email

_LONGEST: Final = 254


def read_address(text: str) -> str | None:
    """Return the identity key of an address, or None where `text` is none.

    Trimmed and in lower case; an international domain in its ASCII form, so that both spellings are
    one person. Refused: line breaks anywhere, more than 254 characters, a local part beyond ASCII
    (a mail server need not take it). Names of the network are not asked.
    """
    if "\r" in text or "\n" in text or len(text.strip()) > _LONGEST:
        return None
    try:
        found = validate_email(
            normalise_email(text),
            check_deliverability=False,
            allow_smtputf8=False,
            test_environment=True,  # `.test` is an address like any other on a test installation
        )
    except EmailNotValidError:
        return None
    key = (found.ascii_email or "").lower()
    return key if 0 < len(key) <= _LONGEST else None


def address_key(text: str) -> str:
    """Return the key to look an address up by; a text that is no address finds nobody."""
    return read_address(text) or normalise_email(text)


def opt_out_hash(workspace_id: int, key: str) -> str:
    """Return what an address that opted out is known by once its contact is gone.

    Hides the address from whoever reads the table, and differs between workspaces; somebody who
    has a list of addresses already can still try them. key: an identity key.
    """
    return hashlib.sha256(f"{workspace_id}:{key}".encode()).hexdigest()[:32]
