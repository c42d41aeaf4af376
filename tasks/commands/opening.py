"""Opens an installation for the commands that start or run something. Failures: see `frame`."""

from collections.abc import Iterator
from contextlib import contextmanager

import engine.house
from engine.core.db import Database
from engine.core.settings import Settings
from engine.house import House
from migrations import run
from tasks.dispatch import connect


def migrated() -> Settings:
    """Return the settings once the schema is up to date. Raises SettingsError and NewerSchema."""
    settings = Settings.from_env()
    settings.home.mkdir(parents=True, exist_ok=True)
    database = Database(settings.database)
    try:
        run.upgrade(database.engine)
    finally:
        database.dispose()
    return settings


@contextmanager
def opened(settings: Settings) -> Iterator[House]:
    """Yield the house of an installation; its hints reach the queue."""
    queues, dispatch = connect(settings)
    house = engine.house.start(settings, dispatch)
    try:
        yield house
    finally:
        house.runtime.database.dispose()
        queues.close()
