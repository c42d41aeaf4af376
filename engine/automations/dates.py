"""The sweep of dates: whose day has come enters, once each, in the person's own zone (A14, C10).

Looks from where the last look ended, at the earliest from the activation: the past starts nothing.
The ledger makes a day exact, so that a look may break off and begin anew (facts 1.16, S2).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic import ValidationError
from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact, ContactPropertyValue
from engine.automations import local_time
from engine.automations.kinds.triggers.date_reached import DateReachedConfig, DateReachedTrigger
from engine.automations.models import ACTIVE, PAUSED, Automation, FiredLedger, ScanState
from engine.core import clock, events
from engine.core.db import upsert
from engine.core.events import NewEvent
from engine.core.unit_of_work import UnitOfWork

KIND: Final = DateReachedTrigger.listens_to
SOURCE: Final = "dates"
PAGE: Final = 500
# Zones differ from UTC by less than a day, and a leap day moves by one.
_SLACK: Final = timedelta(days=3)
_YEAR: Final = timedelta(days=365.2425)
_OLDEST_YEARS: Final = 130


@dataclass(frozen=True)
class Look:
    """What one look is about: an activation and the time from `since`, exclusive, to `until`.

    active: else it is paused, and what comes meanwhile starts nothing, as with every other trigger.
    """

    automation_id: int
    public_id: str
    workspace_id: int
    version: int
    config: DateReachedConfig
    active: bool
    since: datetime
    until: datetime


def sweep(uow: UnitOfWork, page: int = PAGE) -> Mapping[str, int]:
    """Let everybody enter whose day has come since the last look; return how many.

    page: people a transaction.
    """
    at = clock.now()
    with uow.read() as session:
        looks = _looks(session, at)
    fired = 0
    for look in looks:
        fired += _look(uow, look, page, at)
    return {"automations": len(looks), "fired": fired}


def _look(uow: UnitOfWork, look: Look, page: int, at: datetime) -> int:
    fired = last = 0
    while True:
        with uow.begin() as session:
            people = _candidates(session, look, last, page) if look.active else ()
            fired += _fire(session, look, people, at)
            if len(people) < page:
                _note(session, look)
                return fired
            last = people[-1].id


def occurrence(
    config: DateReachedConfig, value: datetime, zone: ZoneInfo, since: datetime, until: datetime
) -> tuple[date, datetime] | None:
    """Return the day, and its instant within (since, until], of a stored value; None: none.

    Midnight in UTC exactly is a calendar date; everything else is a day in the person's zone.
    29 February is 28 February in other years.
    """
    midnight = value.astimezone(UTC).time() == time()
    born = value.astimezone(UTC if midnight else zone).date()
    for day in _days(born, config, until):
        shown = day + timedelta(days=config.offset_days)
        moment = local_time.moment(shown, time.fromisoformat(config.time), zone)
        if since < moment <= until:
            return day, moment
    return None


def _days(born: date, config: DateReachedConfig, until: datetime) -> Iterator[date]:
    yield born
    if not config.yearly:
        return
    for year in range(max(born.year + 1, until.year - 2), until.year + 3):
        leap = born.month == 2 and born.day == 29
        yield (
            born.replace(year=year, day=28)
            if leap and not _is_leap(year)
            else born.replace(year=year)
        )


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _looks(session: Session, at: datetime) -> list[Look]:
    row, seen = Automation, ScanState
    found = session.execute(
        select(
            row.id,
            row.public_id,
            row.workspace_id,
            row.version,
            row.trigger_config,
            row.status,
            row.activated_at,
            seen.scanned_through,
        )
        .outerjoin(
            seen,
            and_(
                seen.workspace_id == row.workspace_id,
                seen.automation_id == row.id,
                seen.automation_version == row.version,
                seen.trigger_type == KIND,
            ),
        )
        .where(row.status.in_((ACTIVE, PAUSED)), row.deleted_at.is_(None), row.trigger_type == KIND)
        .order_by(row.id)
    )
    looks = []
    for each in found:
        config = _readable(each.trigger_config)
        since = max(each.scanned_through or each.activated_at, each.activated_at)
        if config is not None and config.property_key and since < at:
            key = (each.id, each.public_id, each.workspace_id, each.version)
            looks.append(Look(*key, config, each.status == ACTIVE, since, at))
    return looks


def _readable(config: Mapping[str, Any]) -> DateReachedConfig | None:
    """Return the configuration; None for a broken one, which must stall nobody else (G4)."""
    try:
        return DateReachedConfig.model_validate(config)
    except ValidationError:
        return None


def _candidates(session: Session, look: Look, last: int, page: int) -> Sequence[Any]:
    """Return people whose value may fall into the look, by row, behind `last`."""
    value, person = ContactPropertyValue, Contact
    offset = timedelta(days=look.config.offset_days)
    first, end = look.since - offset - _SLACK, look.until - offset + _SLACK
    years = range(_OLDEST_YEARS if look.config.yearly else 1)
    near = or_(*(value.instant.between(first - _YEAR * n, end - _YEAR * n) for n in years))
    return session.execute(
        select(person.id, person.public_id, value.instant)
        .join(
            value,
            and_(value.contact_id == person.id, value.workspace_id == person.workspace_id),
        )
        .where(
            person.workspace_id == look.workspace_id,
            person.deleted_at.is_(None),
            person.id > last,
            value.key == look.config.property_key,
            near,
        )
        .order_by(person.id)
        .limit(page)
    ).all()


def _fire(session: Session, look: Look, people: Sequence[Any], at: datetime) -> int:
    """Record the event of everybody whose hour has come and who has not had it yet."""
    zones = local_time.zones(session, [(look.workspace_id, each.id) for each in people])
    due: dict[str, NewEvent] = {}
    for each in people:
        zone = zones[each.id]
        found = occurrence(look.config, each.instant, zone, look.since, look.until)
        if found is None:
            continue
        day, moment = found
        told = {"automation": look.public_id, "version": look.version, "date": day.isoformat()}
        due[f"{each.public_id}:{day.isoformat()}"] = NewEvent(
            look.workspace_id, each.id, KIND, SOURCE, moment, look.config.property_key, told
        )
    landed = _landed(session, look, due, at) if due else ()
    events.record(session, [due[key] for key in landed], at)
    return len(landed)


def _landed(
    session: Session, look: Look, keys: Mapping[str, NewEvent], at: datetime
) -> Sequence[str]:
    mine = {
        "workspace_id": look.workspace_id,
        "automation_id": look.automation_id,
        "automation_version": look.version,
        "fired_at": at,
    }
    statement = upsert(session, FiredLedger).values([{**mine, "entity_key": key} for key in keys])
    landed = statement.on_conflict_do_nothing().returning(FiredLedger.entity_key)
    found = set(session.scalars(landed))
    return [key for key in keys if key in found]


def _note(session: Session, look: Look) -> None:
    statement = upsert(session, ScanState).values(
        workspace_id=look.workspace_id,
        automation_id=look.automation_id,
        automation_version=look.version,
        trigger_type=KIND,
        cursor="",
        scanned_through=look.until,
        last_scanned_at=look.until,
    )
    key = ["automation_id", "automation_version", "trigger_type"]
    done = {"scanned_through": look.until, "last_scanned_at": look.until}
    session.execute(statement.on_conflict_do_update(index_elements=key, set_=done))
