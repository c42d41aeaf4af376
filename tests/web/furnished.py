"""A full workspace made once a run and copied for each test that asks for `scene`.

Making it takes seconds, copying it next to nothing. Its clock stands where the making ended.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

import engine.house
from engine.core import clock as engine_clock
from engine.core import effects
from engine.core.clock import FixedClock
from engine.core.settings import Settings
from tests.factories import scenes
from tests.factories.scenes import Scene
from tests.support.house import START
from tests.web.support import Town, settle


@dataclass(frozen=True)
class Furnished:
    """What was made; place: the database to copy (a file, or a name in the cluster)."""

    place: str
    town: Town
    scene: Scene
    at: datetime


def furnish(place: str, url: str, home: Path) -> Furnished:
    """Fill the empty, migrated database at `url` and let go of it."""
    settings = Settings(
        home=home,
        database_url=SecretStr(url),
        secret_key=SecretStr("a secret for tests, 32 characters long"),
        testing=True,
    )
    house = engine.house.start(settings, lambda _effects: None)
    clock = FixedClock(START)
    engine_clock.install(clock)
    town = settle(house.runtime.uow, "Acme")
    scene = scenes.full(house, clock, town.workspace_id)
    house.close()
    engine_clock.install(engine_clock.SystemClock())
    effects.install(lambda _effects: None)
    return Furnished(place, town, scene, clock.now())
