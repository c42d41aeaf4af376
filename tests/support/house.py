"""The engine of a test: settings, a clock that stands still, the house with recorded effects."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from argon2 import PasswordHasher
from pydantic import SecretStr
from sqlalchemy.orm import Session

import engine.house
from engine.accounts import passwords
from engine.core import clock as engine_clock
from engine.core import effects
from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.core.unit_of_work import UnitOfWork, open_for_writing
from engine.house import House
from tests.fakes.dispatch import RecordingDispatch

# A Monday, after the change to summer time nowhere and before it in Europe.
START: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path, database_url: str, redis_url: str | None) -> Settings:
    """Return the settings of an installation in a temporary HOME, on the leg's database."""
    return Settings(
        home=tmp_path / "home",
        database_url=SecretStr(database_url),
        redis_url=SecretStr(redis_url) if redis_url else None,
        secret_key=SecretStr("a secret for tests, 32 characters long"),
        testing=True,
    )


@pytest.fixture(autouse=True)
def _cheap_passwords(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with the least work, but in tests marked `real_passwords`."""
    if request.node.get_closest_marker("real_passwords") is None:
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        monkeypatch.setattr(passwords, "_hasher", cheap)


@pytest.fixture
def dispatch() -> RecordingDispatch:
    """Return the hand-over of `house`; it keeps the effects."""
    return RecordingDispatch()


@pytest.fixture
def clock() -> Iterator[FixedClock]:
    """Return the installed clock; it stands at START until the test moves it."""
    fixed = FixedClock(START)
    engine_clock.install(fixed)
    yield fixed
    engine_clock.install(engine_clock.SystemClock())


@pytest.fixture
def house(settings: Settings, dispatch: RecordingDispatch, clock: FixedClock) -> Iterator[House]:
    """Return the started engine with all its rooms, on the standing clock."""
    started = engine.house.start(settings, dispatch)
    engine_clock.install(clock)
    yield started
    started.close()
    effects.install(lambda _effects: None)


@pytest.fixture
def uow(house: House) -> UnitOfWork:
    """Return the unit of work: `with uow.begin() as session` commits at its end."""
    return house.runtime.uow


@pytest.fixture
def session(house: House) -> Iterator[Session]:
    """Return one writing session that is rolled back at the end of the test.

    On SQLite it holds the write lock: a test that also calls `uow.begin()` asks for `uow` alone.
    """
    with house.runtime.database.session() as opened:
        open_for_writing(opened)
        yield opened
        opened.rollback()
