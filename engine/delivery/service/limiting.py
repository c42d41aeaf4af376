"""A mail too many (decision A17): the daily cap, quiet hours, the same template twice in a day.

Days and hours are the person's own: the contact's zone, else the workspace's (decision G6).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy.orm import Session

from engine.audience.queries import ReachRow
from engine.delivery.queries import limits
from engine.delivery.queries.limits import KIND_TEST, Asked, LimitsRow
from engine.delivery.service.sends import SendRequest

ALREADY_RECEIVED: Final = "already_received"
DAILY_LIMIT: Final = "daily_limit"
QUIET_HOURS: Final = "quiet_hours"
REPEAT_WINDOW: Final = timedelta(hours=24)
_UTC: Final = ZoneInfo("UTC")
# The longest day of any zone, so that one read serves every person's own day.
_LONGEST_DAY: Final = timedelta(hours=27)


class Book:
    """What each person got lately, kept while the requests of one batch are decided in order."""

    def __init__(
        self, allowed: Mapping[int, LimitsRow], requests: Sequence[SendRequest], at: datetime
    ) -> None:
        """allowed: limits by workspace row. Nothing is read yet."""
        self._allowed = allowed
        self._requests = requests
        self._at = at
        self._people: Mapping[int, ReachRow] = {}
        self._known: set[str] = set()
        self._got: set[tuple[int, int]] = set()
        self._marketing: dict[int, list[datetime]] = defaultdict(list)
        self.limited = [each for each in requests if self._is_limited(each)]

    def people(self) -> set[int]:
        """Return the contacts whose opt-out or zone matters."""
        asked = {each.contact_id for each in self._requests if each.marketing}
        asked |= {each.contact_id for each in self.limited}
        return {contact_id for contact_id in asked if contact_id is not None}

    def read(self, session: Session, people: Mapping[int, ReachRow]) -> None:
        """Read what the people of limited requests got; after they were locked."""
        self._people = people
        counted = [each for each in self.limited if self._needs_history(each)]
        if not counted:
            return
        asked = [
            Asked(each.workspace_id, each.contact_id, each.dedupe_key)
            for each in counted
            if each.contact_id is not None
        ]
        daily = any(self._cap(each) is not None for each in counted)
        since = self._at - (_LONGEST_DAY if daily else REPEAT_WINDOW)
        for row in limits.recent(session, asked, since):
            self._known.add(row.dedupe_key)
            if row.counts:
                self._marketing[row.contact_id].append(row.queued_at)
            recently = row.queued_at > self._at - REPEAT_WINDOW
            if row.received and recently and row.template_id is not None:
                self._got.add((row.contact_id, row.template_id))

    def enter(self, request: SendRequest) -> str | None:
        """Return why the mail is one too many, or note it as sent."""
        contact_id = request.contact_id
        if contact_id is None or request.dedupe_key in self._known:
            return None
        template = (contact_id, request.template_id or 0)
        if _guarded(request) and template in self._got:
            return ALREADY_RECEIVED
        if request.kind != KIND_TEST:
            why = self._over(request, contact_id) if request.marketing else None
            if why is not None:
                return why
            self._note(request, contact_id)
        return None

    def _note(self, request: SendRequest, contact_id: int) -> None:
        if request.template_id is not None:
            self._got.add((contact_id, request.template_id))
        if request.marketing:
            self._marketing[contact_id].append(self._at)

    def _over(self, request: SendRequest, contact_id: int) -> str | None:
        cap, quiet = self._cap(request), self._allowed[request.workspace_id].quiet
        if cap is None and quiet is None:
            return None
        local = self._at.astimezone(self._zone(request.workspace_id, contact_id))
        midnight = datetime.combine(local.date(), time(), local.tzinfo).astimezone(UTC)
        today = sum(queued_at >= midnight for queued_at in self._marketing[contact_id])
        if cap is not None and today >= cap:
            return DAILY_LIMIT
        if quiet is not None and _within(local.time(), *quiet):
            return QUIET_HOURS
        return None

    def _zone(self, workspace_id: int, contact_id: int) -> ZoneInfo:
        person = self._people.get(contact_id)
        own = person.timezone if person is not None else None
        return _known_zone(own) or _known_zone(self._allowed[workspace_id].timezone) or _UTC

    def _cap(self, request: SendRequest) -> int | None:
        return self._allowed[request.workspace_id].mails_per_day if request.marketing else None

    def _needs_history(self, request: SendRequest) -> bool:
        return _guarded(request) or self._cap(request) is not None

    def _is_limited(self, request: SendRequest) -> bool:
        if request.contact_id is None or request.kind == KIND_TEST:
            return False
        quiet = request.marketing and self._allowed[request.workspace_id].quiet is not None
        return quiet or self._needs_history(request)


def _guarded(request: SendRequest) -> bool:
    """Return whether the same template twice in a day is one too many: marketing, unless said."""
    if request.template_id is None or request.kind == KIND_TEST:
        return False
    if request.allow_repeat is None:
        return request.marketing
    return not request.allow_repeat


def _known_zone(name: str | None) -> ZoneInfo | None:
    """Return the zone, or None for a name this machine does not know: no mail stalls over it."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _within(now: time, start: time, end: time) -> bool:
    if start < end:
        return start <= now < end
    return now >= start or now < end
