"""The one timetable. Every worker keeps it; a tick is run by the one that claims it (decision G8).

A tick travels as a hint on the engine queue. If the queue is away, it runs on the spot: without a
queue the sweeps alone keep the house going.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError

from engine.core import clock, faults, ticks
from engine.core.ids import new_public_id
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from migrations import run
from tasks.queue import ENGINE, HandOverFailed, Queues, TaskKind

log: Final = structlog.get_logger(__name__)

TIMETABLE: Final = "timetable"
BEAT_EVERY: Final = timedelta(seconds=5)
# Ahead of all hints: a backlog must not keep the sweeps from running.
FIRST: Final = 10
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
    Job("outbox", _MINUTE),
    Job("rollup", _MINUTE),
    Job("retention", _DAY, after=timedelta(hours=3, minutes=10)),
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
        done = house.sweeps[name]()
        if any(done.values()):
            log.info("sweep_done", sweep=name, **done)


RUN_SWEEP: Final = TaskKind("periodic.run_sweep", run_sweep)


class Timetable:
    """Watches the clock in one worker and hands over each tick once."""

    def __init__(self, queues: Queues, house: House, jobs: Sequence[Job] = JOBS) -> None:
        self._queues = queues
        self._house = house
        self._jobs = jobs
        self._given: dict[str, datetime] = {}
        self._heart = Heart(house.runtime.uow, TIMETABLE)

    def turn(self) -> None:
        """Hand over what has become due since the last turn; call about every second."""
        at = clock.now()
        for job in self._jobs:
            instant = job.tick(at)
            if self._given.get(job.sweep) != instant:
                self._give(job, instant)
                self._given[job.sweep] = instant
        self._heart.beat()

    def _give(self, job: Job, instant: datetime) -> None:
        tick = int(instant.timestamp())
        try:
            self._queues.put(ENGINE, RUN_SWEEP.name, (job.sweep, tick), priority=FIRST)
        except HandOverFailed as error:
            log.warning("queue_away", sweep=job.sweep, error=str(error))
            self._on_the_spot(job.sweep, tick)

    def _on_the_spot(self, sweep: str, tick: int) -> None:
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
