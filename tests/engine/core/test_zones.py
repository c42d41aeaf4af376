"""Time zones come with the product: an old machine changes no hour."""

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.core import boot, zones
from engine.core.settings import Settings

PLACE = "America/Sao_Paulo"
# Brazil gave up its summer time in 2019; rules older than that are an hour off in January.
INSTANT = datetime(2026, 1, 15, 13, 0, tzinfo=UTC)


@pytest.fixture
def old_machine(tmp_path: Path) -> Iterator[None]:
    """A machine whose rules still know the summer time of Brazil."""
    planted = tmp_path / PLACE
    planted.parent.mkdir()
    planted.write_bytes((resources.files("tzdata.zoneinfo.Etc") / "GMT+2").read_bytes())
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath(to=[str(tmp_path)])
    ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath(to=before)
    ZoneInfo.clear_cache()


@pytest.mark.usefixtures("old_machine")
def test_tim_11_a_started_process_tells_the_time_by_the_shipped_rules(settings: Settings) -> None:
    assert ten_o_clock() != INSTANT
    boot.boot(settings).database.dispose()
    assert ten_o_clock() == INSTANT
    assert INSTANT.astimezone(ZoneInfo(PLACE)).hour == 10


def ten_o_clock() -> datetime:
    return datetime(2026, 1, 15, 10, 0, tzinfo=ZoneInfo(PLACE))


def test_the_release_of_the_rules_can_be_told() -> None:
    assert zones.version() >= "2026.6"
