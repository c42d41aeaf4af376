"""The secret of a key created just now, carried over one redirect and shown once.

The browser's cookie bears a random number; the secret is made of it with the installation's own
key. So no store holds the secret, the cookie alone does not tell it, and any process can show it.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from datetime import datetime, timedelta
from typing import Any, Final, cast

from flask import current_app
from flask import session as browser
from sqlalchemy.orm import Session

from engine.accounts import service
from engine.accounts.service.keys import PREFIX
from engine.core.ids import new_secret

# Who follows the redirect comes at once.
SHOWN_FOR: Final = timedelta(minutes=5)
_NAME: Final = "fresh_key"
_PURPOSE: Final = b"stellwerk api key "


def make() -> tuple[str, str]:
    """Return a new secret and its number; give the number to `announce` once the key exists."""
    number = new_secret()
    return _secret(number), number


def announce(number: str, at: datetime) -> None:
    """Let the next page of this browser show the secret of this number."""
    browser[_NAME] = [number, int(at.timestamp())]


def take(session: Session, workspace_id: int, at: datetime) -> str | None:
    """Return the secret that this page shall show, this once; None without one.

    A key that does not stand in the workspace, or is revoked, is not shown.
    """
    kept = cast("list[Any] | None", browser.pop(_NAME, None))
    if kept is None:
        return None
    number, made = kept
    if not 0 <= at.timestamp() - made < SHOWN_FOR.total_seconds() + 1:
        return None
    secret = _secret(number)
    holder = service.authenticate_key(session, secret, at)
    return secret if holder is not None and holder.workspace_id == workspace_id else None


def _secret(number: str) -> str:
    key = cast("str | bytes", current_app.secret_key)
    key = key.encode() if isinstance(key, str) else key
    digest = hmac.new(key, _PURPOSE + number.encode(), hashlib.sha256).digest()
    return PREFIX + urlsafe_b64encode(digest).decode().rstrip("=")
