"""The sweep of dates: once each, in the person's own zone, never for what lies behind."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, update

from engine.automations import checking, dates, service
from engine.automations.dates import occurrence
from engine.automations.document import Document, read_document
from engine.automations.kinds.triggers.date_reached import DateReachedConfig
from engine.automations.models import Automation, FiredLedger, ScanState
from engine.core.clock import FixedClock
from engine.core.outcome import Problem, Refused, Transitioned
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience
from tests.factories import automations as make
from tests.factories.books import assert_books

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
HOUR = timedelta(hours=1)


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


class Calendar:
    """A workspace with dates of people, a clock that the test sets, and the sweep."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.uow, self.clock = uow, clock
        with uow.begin() as session:
            self.workspace = accounts.workspace(session).id
            audience.custom_property(session, self.workspace, "born", "instant")
            audience.custom_property(session, self.workspace, "plan")

    def person(self, born: str, zone: str = "Europe/Berlin") -> str:
        with self.uow.begin() as session:
            return audience.contact(
                session, self.workspace, properties={"born": born}, timezone=zone
            ).public_id

    def live(self, **config: Any) -> Automation:
        trigger = {"type": "date_reached", "config": {"property_key": "born", **config}}
        with self.uow.begin() as session:
            raw = make.document(make.delay("wait"), trigger=trigger)
            return make.live(session, self.workspace, raw, self.clock.now())

    def entered(self, automation: Automation) -> int:
        with self.uow.read() as session:
            return len(make.runs(session, automation))

    def at(self, instant: datetime) -> int:
        """Return how many enter when the sweep runs at an instant."""
        self.clock.set(instant)
        return dates.sweep(self.uow, page=2)["fired"]


@pytest.fixture
def calendar(uow: UnitOfWork, clock: FixedClock) -> Calendar:
    return Calendar(uow, clock)


@pytest.mark.parametrize(
    ("value", "zone", "config", "since", "until", "found"),
    [
        # A calendar date, in a zone behind UTC and one before it.
        (
            utc(2026, 7, 15),
            BERLIN,
            {},
            utc(2026, 7, 15, 6),
            utc(2026, 7, 15, 7),
            utc(2026, 7, 15, 7),
        ),
        (utc(2026, 7, 15), NEW_YORK, {}, utc(2026, 7, 15), utc(2026, 7, 16), utc(2026, 7, 15, 13)),
        # An instant: late in the evening in UTC it is tomorrow in Berlin.
        (utc(2026, 7, 15, 23), BERLIN, {}, utc(2026, 7, 15), utc(2026, 7, 17), utc(2026, 7, 16, 7)),
        (
            utc(2026, 7, 15),
            BERLIN,
            {"offset_days": -7},
            utc(2026, 7, 8),
            utc(2026, 7, 9),
            utc(2026, 7, 8, 7),
        ),
        (utc(1990, 7, 15), BERLIN, {}, utc(2026, 7, 15), utc(2026, 7, 16), None),
        (
            utc(1990, 7, 15),
            BERLIN,
            {"yearly": True},
            utc(2026, 7, 15),
            utc(2026, 7, 16),
            utc(2026, 7, 15, 7),
        ),
        (utc(2030, 7, 15), BERLIN, {"yearly": True}, utc(2026, 7, 15), utc(2026, 7, 16), None),
        (
            utc(2000, 2, 29),
            BERLIN,
            {"yearly": True},
            utc(2027, 2, 28),
            utc(2027, 3, 1),
            utc(2027, 2, 28, 8),
        ),
        (
            utc(2000, 2, 29),
            BERLIN,
            {"yearly": True},
            utc(2028, 2, 29),
            utc(2028, 3, 1),
            utc(2028, 2, 29, 8),
        ),
        (
            utc(1990, 1, 2),
            BERLIN,
            {"yearly": True, "offset_days": -3},
            utc(2026, 12, 30),
            utc(2026, 12, 31),
            utc(2026, 12, 30, 8),
        ),
        # Open at its beginning, closed at its end.
        (utc(2026, 7, 15), BERLIN, {}, utc(2026, 7, 15, 7), utc(2026, 7, 15, 8), None),
    ],
)
def test_a_day_comes_at_its_hour_in_the_zone_of_the_person(
    value: datetime, zone: ZoneInfo, config: dict[str, Any], since: datetime, until: datetime,
    found: datetime | None,
) -> None:  # fmt: skip
    answer = occurrence(DateReachedConfig(**config), value, zone, since, until)
    assert (None if answer is None else answer[1]) == found


@pytest.mark.parametrize("day", [utc(2026, 3, 29), utc(2026, 10, 25)])
def test_tim_08_nine_is_nine_also_when_the_clocks_change(day: datetime) -> None:
    config = DateReachedConfig(property_key="born")
    found = occurrence(config, day, BERLIN, day - HOUR, day + 24 * HOUR)
    assert found is not None
    local = found[1].astimezone(BERLIN)
    assert (local.date(), local.time()) == (day.date(), time(9))


def test_everybody_enters_once_at_their_own_hour(calendar: Calendar) -> None:
    calendar.clock.set(utc(2026, 7, 14, 12))
    automation = calendar.live(yearly=True)
    for born in ("1990-07-15", "1980-07-15", "1970-07-15"):
        calendar.person(born)
    calendar.person("1990-07-15", "America/New_York")
    calendar.person("1990-07-16")
    assert calendar.at(utc(2026, 7, 15, 6, 59)) == 0
    assert calendar.at(utc(2026, 7, 15, 7)) == 3
    assert calendar.at(utc(2026, 7, 15, 7, 1)) == 0
    assert calendar.at(utc(2026, 7, 15, 13)) == 1
    assert calendar.at(utc(2026, 7, 16, 12)) == 1
    assert calendar.at(utc(2027, 7, 15, 12)) == 3
    with calendar.uow.read() as session:
        runs = make.runs(session, automation)
        assert len(runs) == 5
        assert runs[0].trigger_data == {"property_key": "born", "date": "2026-07-15"}
        assert_books(session)


def test_a_look_that_broke_off_lets_nobody_enter_twice(calendar: Calendar) -> None:
    calendar.clock.set(utc(2026, 7, 14, 12))
    automation = calendar.live()
    for _ in range(3):
        calendar.person("2026-07-15")
    calendar.at(utc(2026, 7, 15, 12))
    with calendar.uow.begin() as session:
        for row in session.scalars(select(ScanState)):
            session.delete(row)
    assert calendar.at(utc(2026, 7, 15, 13)) == 0
    assert calendar.entered(automation) == 3
    with calendar.uow.read() as session:
        assert len(session.scalars(select(FiredLedger)).all()) == 3


def test_a_definition_that_does_not_read_stalls_nobody_else(calendar: Calendar) -> None:
    calendar.person("1990-03-05")
    broken, sound = calendar.live(yearly=True), calendar.live(yearly=True)
    with calendar.uow.begin() as session:
        session.execute(
            update(Automation)
            .where(Automation.id == broken.id)
            .values(trigger_config={"property_key": "born", "time": 9})
        )
    calendar.at(utc(2026, 3, 4, 12))
    assert calendar.at(utc(2026, 3, 5, 12)) == 1
    assert (calendar.entered(broken), calendar.entered(sound)) == (0, 1)


def test_the_past_starts_nothing(calendar: Calendar) -> None:
    calendar.person("2026-07-15")
    calendar.clock.set(utc(2026, 7, 15, 8))
    calendar.live()
    assert calendar.at(utc(2026, 7, 15, 9)) == 0


def test_what_comes_in_a_pause_starts_nothing_later(calendar: Calendar) -> None:
    calendar.person("2026-07-15")
    calendar.clock.set(utc(2026, 7, 14))
    automation = calendar.live()
    _change(calendar, automation, "paused")
    assert calendar.at(utc(2026, 7, 15, 12)) == 0
    _change(calendar, automation, "active")
    assert calendar.at(utc(2026, 7, 15, 13)) == 0
    assert calendar.entered(automation) == 0


def test_edt_05_another_hour_published_in_between_counts_the_same_day_once(
    calendar: Calendar,
) -> None:
    calendar.clock.set(utc(2026, 7, 15, 7, 15))
    automation = calendar.live(time="09:00")
    calendar.person("2026-07-15")
    calendar.clock.set(utc(2026, 7, 15, 7, 30))
    _publish(calendar, automation, time="10:00")
    assert [calendar.at(utc(2026, 7, 15, 7, minute)) for minute in (31, 59)] == [0, 0]
    assert [calendar.at(utc(2026, 7, 15, 8, minute)) for minute in (0, 1, 59)] == [1, 0, 0]
    assert calendar.entered(automation) == 1


def test_check_wants_a_property_that_holds_dates(calendar: Calendar) -> None:
    assert _errors(calendar, "born") == []
    where = "/trigger/config/property_key"
    assert _errors(calendar, "plan") == [Problem(where, "no_date_property", {"name": "plan"})]
    assert _errors(calendar, "gone") == [Problem(where, "property_not_found", {"name": "gone"})]


@pytest.mark.parametrize(
    "config", [{"offset_days": 366}, {"offset_days": 1.5}, {"time": "9:00"}, {"yearly": "yes"}]
)
def test_what_means_nothing_is_refused_on_save(config: dict[str, Any]) -> None:
    trigger = {"type": "date_reached", "config": config}
    refused = read_document(make.document(make.end("a"), trigger=trigger))
    assert isinstance(refused, Refused)
    assert [each.pointer for each in refused.problems] == [f"/trigger/config/{next(iter(config))}"]


def _errors(calendar: Calendar, key: str) -> Sequence[Problem]:
    trigger = {"type": "date_reached", "config": {"property_key": key}}
    document = read_document(make.document(make.end("a"), trigger=trigger))
    assert isinstance(document, Document)
    with calendar.uow.read() as session:
        return checking.errors(session, calendar.workspace, document)


def _change(calendar: Calendar, automation: Automation, to: str) -> None:
    with calendar.uow.begin() as session:
        moved = service.move(
            session, calendar.workspace, automation.public_id, service.Wish(to), make.ACTOR,
            calendar.clock.now(),
        )  # fmt: skip
        assert isinstance(moved, Transitioned), moved


def _publish(calendar: Calendar, automation: Automation, **config: Any) -> None:
    trigger = {"type": "date_reached", "config": {"property_key": "born", **config}}
    raw, at = make.document(make.delay("wait"), trigger=trigger), calendar.clock.now()
    with calendar.uow.begin() as session:
        row = service.find(session, calendar.workspace, automation.public_id)
        assert row is not None
        saved = service.save(
            session,
            calendar.workspace,
            automation.public_id,
            raw,
            row.draft_version,
            make.ACTOR,
            at,
        )
        assert isinstance(saved, service.Saved), saved
        done = service.publish(
            session, calendar.workspace, automation.public_id, "stay", make.ACTOR, at
        )
        assert not isinstance(done, Refused), done
