"""Days in an address (`since=2026-03-02`) as instants: it begins in the reader's zone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Days:
    """From the begin of one day up to the end of another; None where a side is open."""

    since: datetime | None
    until: datetime | None


def read(asked: Mapping[str, str], zone: str) -> Days:
    """Return `since` and `until` of an address; a day that is none counts as not given."""
    since, until = _day(asked.get("since", "")), _day(asked.get("until", ""))
    place = ZoneInfo(zone)
    return Days(
        datetime.combine(since, time.min, place) if since else None,
        datetime.combine(until + timedelta(days=1), time.min, place) if until else None,
    )


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    # Far enough from both ends of the calendar that no zone and no next day leaves it.
    return found if 1900 <= found.year < 2200 else None
