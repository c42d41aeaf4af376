"""The tokens that this process has leased for each API key in the current second.

Owns spending without the database; leaves the shared count to engine.core.rate.
"""

import threading
from datetime import datetime, timedelta
from typing import Final

from engine.core import rate
from engine.core.unit_of_work import UnitOfWork

WINDOW: Final = timedelta(seconds=1)
# A process asks for this share of a second's tokens at once, so that others get theirs too.
_SHARE: Final = 10
# A greater step backwards means that somebody has set the clock.
_SET_BACK: Final = timedelta(seconds=10)


class Purse:
    """Spends one token a request; leases more when a key's are used up."""

    def __init__(self, uow: UnitOfWork, limit: int) -> None:
        self._uow = uow
        self._limit = limit
        self._lock = threading.Lock()
        self._window: datetime | None = None
        self._left: dict[int, int] = {}
        self._refused: set[int] = set()

    def spend(self, key_id: int, at: datetime) -> int | None:
        """Spend a token of the key; None when granted, else the seconds to wait."""
        with self._lock:
            self._turn(at)
            if self._left.get(key_id, 0) > 0:
                self._left[key_id] -= 1
                return None
            if key_id in self._refused:
                return rate.retry_after(WINDOW, at)
        want = max(1, self._limit // _SHARE)
        with self._uow.begin() as session:
            granted = rate.lease(session, f"api:{key_id}", self._limit, WINDOW, at, want)
        with self._lock:
            self._turn(at)
            if granted == 0:
                self._refused.add(key_id)
                return rate.retry_after(WINDOW, at)
            self._left[key_id] = self._left.get(key_id, 0) + granted - 1
        return None

    def _turn(self, at: datetime) -> None:
        window = rate.window_start(at, WINDOW)
        known = self._window
        # A thread that read the clock just before the turn of a second must not turn it back.
        if known is None or window > known or window < known - _SET_BACK:
            self._window = window
            self._left.clear()
            self._refused.clear()
