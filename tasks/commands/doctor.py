"""`stellwerk doctor`: looks at everything an installation needs and says what is wrong.

One plain line a check on stdout; faults are counted on stderr and end with code 1.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import click
from redis.exceptions import RedisError
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from engine.core import clock, ticks, zones
from engine.core.boot import Runtime
from engine.core.outcome import Refused
from engine.delivery.kinds import handshake, transport_name
from migrations import run
from tasks.commands.frame import first_line, installation
from tasks.commands.words import sentence
from tasks.dispatch import connect
from tasks.periodic import TIMETABLE
from tasks.worker import ROLE as WORKER

# Leases and delays compare the instants of several machines, so their clocks must agree this well.
DRIFT: Final = timedelta(seconds=5)


@dataclass(frozen=True)
class Finding:
    """What a check saw, in a few words, and whether it is as it should be."""

    sound: bool
    words: str


Check = Callable[[Runtime], Finding]


@click.command()
def doctor() -> None:
    """Check settings, database, queue, workers, mail and clock; code 1 on a fault."""
    faults = []
    with installation() as runtime:
        for name, check in CHECKS.items():
            finding = check(runtime)
            click.echo(f"{'ok' if finding.sound else 'FAULT':7}{name:11}{finding.words}")
            if not finding.sound:
                faults.append(name)
    if faults:
        raise click.ClickException(f"found a fault in {', '.join(faults)}; see the lines above.")


def check_settings(runtime: Runtime) -> Finding:
    """Say which parts are in use; wrong settings never come this far."""
    settings = runtime.settings
    queue = "Redis" if settings.redis_url else "SQLite file"
    words = (
        f"HOME {settings.home}, database {runtime.database.engine.dialect.name}, queue {queue}, "
        f"mail by {transport_name(settings)}, console at {settings.base_url}"
    )
    return Finding(True, words)


def check_database(runtime: Runtime) -> Finding:
    """Say whether the database answers and its schema fits."""
    try:
        differences = run.check(runtime.database.engine)
    except DBAPIError as error:
        return Finding(False, f"{first_line(error.orig)}; check STELLWERK_DATABASE_URL")
    except run.NewerSchema as error:
        return Finding(False, str(error))
    return Finding(not differences, "; ".join(differences) or "answers, the schema fits")


def check_queue(runtime: Runtime) -> Finding:
    """Say whether the queue answers, and how many hints wait in it."""
    queues, _dispatch = connect(runtime.settings)
    try:
        waiting = sum(huey.pending_count() for huey in queues.by_name.values())
    except (RedisError, sqlite3.Error, OSError) as error:
        remedy = "check STELLWERK_REDIS_URL" if runtime.settings.redis_url else "check HOME"
        return Finding(False, f"{first_line(error)}; {remedy}")
    finally:
        queues.close()
    return Finding(True, f"answers, {waiting} hints waiting")


def check_workers(runtime: Runtime) -> Finding:
    """Say when a worker and the timetable were last seen."""
    at = clock.now()
    try:
        with runtime.uow.read() as session:
            pulses = {role: ticks.pulse(session, role, at) for role in (WORKER, TIMETABLE)}
    except DBAPIError as error:
        return Finding(False, first_line(error.orig))
    seen = ", ".join(f"{role} {_ago(pulse)}" for role, pulse in pulses.items())
    if all(pulse.alive for pulse in pulses.values()):
        return Finding(True, seen)
    return Finding(False, f"{seen}; start one with `stellwerk up` or `stellwerk worker`")


def check_mail(runtime: Runtime) -> Finding:
    """Say whether the mail server takes us, without sending anything."""
    answer = handshake(runtime.settings)
    if isinstance(answer, Refused):
        return Finding(False, sentence(answer))
    return Finding(True, answer)


def check_clock(runtime: Runtime) -> Finding:
    """Say whether the database's clock and ours agree; SQLite has ours."""
    if runtime.settings.test_clock:
        return Finding(True, f"{clock.now():%Y-%m-%d %H:%M:%S} UTC, moved by STELLWERK_TEST_CLOCK")
    if runtime.database.engine.dialect.name == "sqlite":
        return Finding(True, f"{clock.now():%Y-%m-%d %H:%M:%S} UTC")
    try:
        with runtime.uow.read() as session:
            theirs = session.execute(select(func.clock_timestamp())).scalar_one()
    except DBAPIError as error:
        return Finding(False, first_line(error.orig))
    drift = abs(clock.now() - theirs)
    words = f"{drift.total_seconds():.1f} s apart from the database's"
    return Finding(drift <= DRIFT, words if drift <= DRIFT else f"{words}; run a time service")


def check_zones(_runtime: Runtime) -> Finding:
    """Say which rules of time zones are in use."""
    return Finding(True, f"rules {zones.version()}, those of this release")


def _ago(pulse: ticks.Pulse) -> str:
    if pulse.seen_at is None:
        return "not running"
    return f"seen {pulse.seen_at:%Y-%m-%d %H:%M:%S} UTC" if not pulse.alive else "alive"


CHECKS: Final[Mapping[str, Check]] = {
    "settings": check_settings,
    "database": check_database,
    "queue": check_queue,
    "workers": check_workers,
    "mail": check_mail,
    "clock": check_clock,
    "zones": check_zones,
}
