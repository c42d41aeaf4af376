"""Hours and days of a person's own: their zone, else the workspace's (decisions C10, G6). Pure but
for `zones`.

A local time in the gap moves forward by the gap; of a doubled one the first counts.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import Workspace
from engine.audience import queries as audience

UNIVERSAL: Final = ZoneInfo("UTC")
# Today's window may be over, and the next one a week later.
_DAYS_AHEAD: Final = 8


@dataclass(frozen=True)
class Window:
    """Hours of some weekdays. weekdays: from 1, Monday; opens, closes: None means midnight."""

    weekdays: frozenset[int]
    opens: time | None = None
    closes: time | None = None


def zone_of(*names: str | None) -> ZoneInfo:
    """Return the first zone that is known, else UTC: nobody stalls over the name of a zone."""
    for name in names:
        try:
            if name:
                return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            continue
    return UNIVERSAL


def zones(session: Session, people: Collection[tuple[int, int]]) -> Mapping[int, ZoneInfo]:
    """Return the zones of people by contact row; people: (workspace, contact). Two statements."""
    own = audience.reach(session, {contact for _workspace, contact in people})
    workspaces = {workspace for workspace, _contact in people}
    found = session.execute(
        select(Workspace.id, Workspace.timezone).where(Workspace.id.in_(workspaces))
    )
    shared: dict[int, str] = dict(found.all())
    return {
        contact: zone_of(own[contact].timezone if contact in own else None, shared.get(workspace))
        for workspace, contact in people
    }


def moment(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """Return the instant, in UTC, at which `clock` is shown in `zone` on `day`."""
    return datetime.combine(day, clock, zone).astimezone(UTC)


def opening(window: Window, at: datetime, zone: ZoneInfo) -> datetime:
    """Return when the window is open next: `at` itself where it is open then.

    Raises ValueError for a window that never opens.
    """
    today = at.astimezone(zone).date()
    for day in (today + timedelta(days=ahead) for ahead in range(_DAYS_AHEAD)):
        if day.isoweekday() not in window.weekdays:
            continue
        start = moment(day, window.opens or time(), zone)
        if window.closes is not None:
            end = moment(day, window.closes, zone)
        else:
            end = moment(day + timedelta(days=1), time(), zone)
        if at < end and start < end:
            return max(at, start)
    raise ValueError("the window never opens")
