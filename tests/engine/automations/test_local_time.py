"""Hours of a person's own: zones, summer time, windows that open another day."""

import time as process_time
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from engine.automations.local_time import Window, moment, opening, zone_of

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
WORKDAYS = frozenset({1, 2, 3, 4, 5})


def utc(day: int, hour: int, minute: int = 0, month: int = 7) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


@pytest.fixture(params=["UTC", "America/New_York"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let the machine stand somewhere else."""
    monkeypatch.setenv("TZ", request.param)
    process_time.tzset()
    yield request.param
    monkeypatch.undo()
    process_time.tzset()


def test_tim_01_and_tim_10_ten_in_berlin_is_ten_in_berlin_wherever_the_machine_stands(
    machine: str,
) -> None:
    assert machine
    assert moment(date(2026, 7, 15), time(10), BERLIN) == utc(15, 8)


def test_tim_03_the_morning_after_summer_time_ended_is_an_hour_later_in_utc() -> None:
    paris = ZoneInfo("Europe/Paris")
    assert moment(date(2026, 10, 24), time(7, 30), paris) == utc(24, 5, 30, 10)
    assert moment(date(2026, 10, 31), time(7, 30), paris) == utc(31, 6, 30, 10)


def test_a_time_in_the_gap_moves_forward_and_a_doubled_one_is_the_first() -> None:
    assert moment(date(2026, 3, 29), time(2, 30), BERLIN) == utc(29, 1, 30, 3)
    assert moment(date(2026, 10, 25), time(2, 30), BERLIN) == utc(25, 0, 30, 10)


@pytest.mark.parametrize(
    ("window", "at", "opens"),
    [
        # Wednesday, 15 July 2026.
        (Window(WORKDAYS, time(10), time(17)), utc(15, 7, 59), utc(15, 8)),
        (Window(WORKDAYS, time(10), time(17)), utc(15, 8), utc(15, 8)),
        (Window(WORKDAYS, time(10), time(17)), utc(15, 14, 59), utc(15, 14, 59)),
        (Window(WORKDAYS, time(10), time(17)), utc(15, 15), utc(16, 8)),
        (Window(WORKDAYS, time(10), time(17)), utc(17, 15), utc(20, 8)),
        (Window(frozenset({3}), time(10), time(17)), utc(15, 15), utc(22, 8)),
        (Window(WORKDAYS), utc(18, 12), utc(19, 22)),
        (Window(WORKDAYS, time(22)), utc(17, 21, 59), utc(17, 21, 59)),
        (Window(frozenset({1}), time(10)), utc(19, 21, 59), utc(20, 8)),
    ],
)
def test_a_window_opens_at_its_next_hour_or_is_open(
    window: Window, at: datetime, opens: datetime
) -> None:
    assert opening(window, at, BERLIN) == opens


def test_the_same_window_opens_later_further_west() -> None:
    window = Window(WORKDAYS, time(10), time(17))
    assert opening(window, utc(15, 8), NEW_YORK) == utc(15, 14)


def test_a_window_without_days_never_opens() -> None:
    with pytest.raises(ValueError, match="never"):
        opening(Window(frozenset()), utc(15, 8), BERLIN)


def test_an_unknown_zone_is_passed_over() -> None:
    assert zone_of(None, "Mars/Olympus", "Europe/Berlin").key == "Europe/Berlin"
    assert zone_of("", None).key == "UTC"
