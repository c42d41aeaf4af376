"""The one timetable. Every worker keeps it; a tick is run by the one that claims it (decision G8).

A tick needs no queue: it runs in a thread of its own beside the scheduler, so that a long sweep
keeps neither the other ticks nor the hints waiting, and the sweeps alone keep the house going.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Final

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError

from engine import pruning
from engine.core import clock, faults, ticks
from engine.core.ids import new_public_id
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from migrations import run

log: Final = structlog.get_logger(__name__)

TIMETABLE: Final = "timetable"
BEAT_EVERY: Final = timedelta(seconds=5)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = timedelta(minutes=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True)
class Job:
    """A periodic job: the sweep's name, how often, and how long after the full period (UTC)."""

    sweep: str
    every: timedelta
    after: timedelta = timedelta(0)

    def tick(self, at: datetime) -> datetime:
        """Return the newest instant at or before `at` at which the job is to run."""
        return _EPOCH + (at - _EPOCH - self.after) // self.every * self.every + self.after


JOBS: Final[Sequence[Job]] = (
    Job("steps", _MINUTE),
    Job("sends", _MINUTE),
    Job("run-jobs", _MINUTE),
    Job("outbox", _MINUTE),
    Job("dates", _MINUTE),
    Job("rollup", _MINUTE),
    Job("retention", _DAY, after=pruning.NIGHTLY),
    Job("purge", _DAY, after=timedelta(hours=3, minutes=40)),
)


def process_name(what: str) -> str:
    """Return a name for a heartbeat that no other process bears: what:host:pid:random."""
    return f"{what}:{socket.gethostname()[:60]}:{os.getpid()}:{new_public_id()[:6]}"


def run_sweep(house: House, name: str, tick: int) -> None:
    """Run a sweep for the tick at `tick` (seconds since the epoch) unless somebody else does."""
    instant = datetime.fromtimestamp(tick, UTC)
    with house.runtime.uow.begin() as session:
        mine = ticks.claim(session, name, instant, clock.now())
    if mine:
        faults.point("tick.claimed")
        done = (house.bounded.get(name) or house.sweeps[name])()
        if any(done.values()):
            log.info("sweep_done", sweep=name, **done)


class Timetable:
    """Watches the clock in one worker and begins each tick once.

    At most one sweep of a name is under way in a process: a sweep goes on until nothing is due, and
    more of them at the same rows would only take turns.
    """

    def __init__(self, house: House, jobs: Sequence[Job] = JOBS) -> None:
        self._house = house
        self._jobs = jobs
        self._begun: dict[str, datetime] = {}
        self._threads: dict[str, Thread] = {}
        self._heart = Heart(house.runtime.uow, TIMETABLE)

    def turn(self) -> None:
        """Begin what has become due since the last turn; call about every second."""
        at = clock.now()
        for job in self._jobs:
            instant = job.tick(at)
            under_way = self._threads.get(job.sweep)
            if self._begun.get(job.sweep) != instant and not (under_way and under_way.is_alive()):
                self._begin(job.sweep, instant)
        self._heart.beat()

    def leave(self) -> None:
        """Take the timetable's own heartbeat away; to be called once nothing turns it any more."""
        self._heart.leave()

    def threads(self) -> Sequence[Thread]:
        """Return the sweeps that were begun last, over or under way."""
        return list(self._threads.values())

    def _begin(self, sweep: str, instant: datetime) -> None:
        self._begun[sweep] = instant
        arguments = (sweep, int(instant.timestamp()))
        thread = Thread(target=self._sweep, args=arguments, name=f"Sweep-{sweep}", daemon=True)
        self._threads[sweep] = thread
        thread.start()

    def _sweep(self, sweep: str, tick: int) -> None:
        try:
            run_sweep(self._house, sweep, tick)
        except (OperationalError, InterfaceError) as error:
            log.warning("sweep_lost", sweep=sweep, error=type(error.orig).__name__)


class Heart:
    """Leaves a heartbeat of this process, at most every BEAT_EVERY.

    newer: the schema of a newer Stellwerk that it saw, once it saw one; it beats no more then.
    """

    def __init__(self, uow: UnitOfWork, role: str) -> None:
        self._uow = uow
        self._role = role
        self._name = process_name(role)
        self._last: datetime | None = None
        self.newer: str | None = None

    def beat(self) -> None:
        """Note that this process is alive; a database that is away is only logged."""
        at = clock.now()
        if self._last is not None and timedelta(0) <= at - self._last < BEAT_EVERY:
            return
        try:
            with self._uow.begin() as session:
                # Before anything else: rows of a newer schema are not ours to write.
                self.newer = self.newer or run.newer(session.connection())
                if self.newer is None:
                    ticks.beat(session, self._role, self._name, at)
        # While a restore is at work its tables may be away for a moment.
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            log.warning("heartbeat_lost", role=self._role, error=type(error.orig).__name__)
        else:
            self._last = at

    def leave(self) -> None:
        """Take the heartbeat away at a clean end, so that nobody takes this process for alive."""
        if self._last is None or self.newer is not None:
            return
        try:
            with self._uow.begin() as session:
                ticks.leave(session, self._name)
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            log.warning("heartbeat_lost", role=self._role, error=type(error.orig).__name__)
