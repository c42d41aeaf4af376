"""Opens an installation for the commands that start or run something. Failures: see `frame`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

import engine.house
from engine.core.boot import make_home
from engine.core.db import Database
from engine.core.settings import Settings
from engine.house import House
from migrations import run
from tasks.dispatch import connect

host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
)
port_option = click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=None,
    help="Port to listen on; STELLWERK_PORT when left out.",
)


def migrated() -> Settings:
    """Return the settings once the schema is up to date. Raises SettingsError and NewerSchema."""
    settings = Settings.from_env()
    make_home(settings.home)
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
        house.close()
        queues.close()


def reached_at(settings: Settings, port: int) -> str:
    """Return where people reach the console, and tell the processes we start.

    Links in mails follow the port unless STELLWERK_BASE_URL says otherwise.
    """
    address = settings.base_url
    if "base_url" not in settings.model_fields_set:
        address = f"http://127.0.0.1:{port}"
    os.putenv("STELLWERK_PORT", str(port))
    os.putenv("STELLWERK_BASE_URL", address)
    return address
