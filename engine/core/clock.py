"""The only source of the present. Tests install a clock of their own (decision G12).

Read it once per operation and pass the instant on, so that one act bears one time.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """Anything that can tell the present as an aware UTC instant."""

    def now(self) -> datetime:
        """Return the present."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the machine's present."""
        return datetime.now(UTC)


class OffsetClock:
    """The machine's clock moved by the seconds that a file holds; shared by real processes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        """Return the moved present; a missing or unreadable file counts as an offset of 0."""
        try:
            offset = float(self._path.read_text().strip() or 0)
        except (OSError, ValueError):
            offset = 0.0
        return datetime.now(UTC) + timedelta(seconds=offset)


class FixedClock:
    """A clock that stands still until it is moved; for tests."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        """Return the instant it was set to."""
        return self._at

    def set(self, at: datetime) -> None:
        """Set the present."""
        self._at = at

    def advance(self, by: timedelta) -> datetime:
        """Move the present by `by` (back when negative) and return it."""
        self._at += by
        return self._at


_clock: Clock = SystemClock()


def install(clock: Clock) -> None:
    """Make `clock` the clock of this process."""
    global _clock
    _clock = clock


def now() -> datetime:
    """Return the present as an aware UTC instant."""
    return _clock.now()
