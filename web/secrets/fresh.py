"""The value of a signing secret made just now, carried over one redirect and shown once.

The browser's cookie bears a random number; the value is made of it with the installation's own
key. So the cookie alone does not tell it, and any process can show it.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from datetime import datetime, timedelta
from typing import Any, Final, cast

from flask import current_app
from flask import session as browser
from sqlalchemy.orm import Session

from engine.accounts import secret_rows
from engine.accounts.service.secrets import PREFIX
from engine.core.ids import new_secret

# Who follows the redirect comes at once.
SHOWN_FOR: Final = timedelta(minutes=5)
_NAME: Final = "fresh_secret"
_PURPOSE: Final = b"stellwerk outbound secret "


def make() -> tuple[str, str]:
    """Return a new value and its number; give the number to `announce` once it is stored."""
    number = new_secret()
    return _value(number), number


def announce(number: str, public_id: str, at: datetime) -> None:
    """Let the next page of this browser show the value of this secret."""
    browser[_NAME] = [number, public_id, int(at.timestamp())]


def take(session: Session, workspace_id: int, at: datetime) -> str | None:
    """Return the value that this page shall show, this once; None without one.

    Of a secret that does not stand in the workspace nothing is shown.
    """
    kept = cast("list[Any] | None", browser.pop(_NAME, None))
    if kept is None:
        return None
    number, public_id, made = kept
    if not 0 <= at.timestamp() - made < SHOWN_FOR.total_seconds() + 1:
        return None
    return _value(number) if secret_rows.kinds_of(session, workspace_id, [public_id]) else None


def _value(number: str) -> str:
    key = cast("str | bytes", current_app.secret_key)
    key = key.encode() if isinstance(key, str) else key
    digest = hmac.new(key, _PURPOSE + number.encode(), hashlib.sha256).digest()
    return PREFIX + urlsafe_b64encode(digest).decode().rstrip("=")
