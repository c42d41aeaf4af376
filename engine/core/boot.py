"""Starts the floor: folder, secret key, clock, zones, logs, ways out, database, hand-over.

Rooms are wired one level up, in `engine.house`.
"""

import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from engine.core import clock, crypto, effects, faults, http, zones
from engine.core.db import Database
from engine.core.ids import new_secret
from engine.core.settings import Settings
from engine.core.unit_of_work import UnitOfWork

KEY_FILE: Final = "secret.key"


@dataclass(frozen=True)
class Runtime:
    """What a started process works with."""

    settings: Settings
    database: Database
    uow: UnitOfWork
    secret_key: str


def boot(settings: Settings, dispatch: effects.Dispatch | None = None) -> Runtime:
    """Start the floor of one process. dispatch: hand-over to the queue; None: sweeps alone."""
    make_home(settings.home)
    _start_logs()
    zones.use_shipped()
    faults.permit(testing=settings.testing, planned=settings.faults)
    clock.install(
        clock.OffsetClock(settings.test_clock) if settings.test_clock else clock.SystemClock()
    )
    if dispatch is not None:
        effects.install(dispatch)
    secret_key = _secret_key(settings)
    crypto.install(secret_key)
    http.install(http.Client(settings.allow_private_hosts.split(",")))
    database = Database(settings.database)
    return Runtime(settings, database, UnitOfWork(database), secret_key)


def make_home(home: Path) -> None:
    """Create the data folder for its owner alone: it holds people's data and the secret key."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


def _secret_key(settings: Settings) -> str:
    """Return the installation's key; made once in HOME when the setting is unset."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value()
    return _made_once(settings.home / KEY_FILE)


def _made_once(path: Path) -> str:
    # A complete file appears under its name at once: two processes starting together agree on it.
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(new_secret())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


def _start_logs() -> None:
    """Log one JSON object a line on stderr, at info level, with the ids bound to the context."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
