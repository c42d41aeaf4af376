"""Huey's consumer without signal handlers of its own, four of them stopped by one loop.

Threads only; the timetable hangs on the engine queue's scheduler (architecture 7).
"""

import logging
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import structlog
from huey.consumer import Consumer, Scheduler

from tasks.periodic import Heart, Timetable
from tasks.queue import HintQueue

log: Final = structlog.get_logger(__name__)

# How long tasks may go on after the stop; the orders of a supervisor must wait longer.
DRAIN_S: Final = 20.0
# The same where the schema has become a newer one: what is under way may no longer fit it.
OUTDATED_DRAIN_S: Final = 3.0
_HEALTH_S: Final = 10.0
_LOOK_S: Final = 0.1
_BEAT_S: Final = 1.0
# A heartbeat under way at the end may take this long; longer, and it stays until it is old.
_FAREWELL_S: Final = 2.0
_QUIET_S: Final = 30.0


class TimetableScheduler(Scheduler):  # type: ignore[misc] # published without types
    """Moves due hints into the queue; on the engine queue it also keeps the timetable."""

    periodic_task_seconds = 1
    timetable: Timetable | None = None

    def enqueue_periodic_tasks(self, now: datetime | None) -> None:  # noqa: ARG002 - of the library
        """Look at the timetable; the library's own periodic tasks would tick once per worker."""
        if self.timetable is not None:
            self.timetable.turn()


class QueueConsumer(Consumer):  # type: ignore[misc] # published without types
    """The threads of one queue. An idle SQLite queue is looked at every half second (G7)."""

    scheduler_class = TimetableScheduler

    def __init__(self, huey: HintQueue, threads: int, timetable: Timetable | None) -> None:
        self._timetable = timetable
        super().__init__(
            huey, workers=threads, periodic=timetable is not None, max_delay=0.5, backoff=1.15
        )

    def _create_scheduler(self) -> TimetableScheduler:
        scheduler: TimetableScheduler = super()._create_scheduler()
        scheduler.timetable = self._timetable
        return scheduler

    def _set_signal_handlers(self) -> None:
        """Set none: the process has one handler for all its queues."""

    def leave(self) -> None:
        """Take the heartbeat of the timetable away, where it is kept."""
        if self._timetable is not None:
            self._timetable.leave()

    def threads(self) -> list[threading.Thread]:
        """Return every thread of this queue: workers, scheduler, the sweeps it began."""
        sweeps = self._timetable.threads() if self._timetable is not None else ()
        return [*(thread for _worker, thread in self.worker_threads), self.scheduler, *sweeps]


class Crew:
    """All queues of one worker process: started, watched and stopped together."""

    def __init__(self, consumers: Sequence[QueueConsumer], heart: Heart) -> None:
        self._consumers = consumers
        self._heart = heart
        self._asked = False
        self._over = threading.Event()

    def stop(self) -> None:
        """Ask to stop. A plain flag, because a signal handler must not wait for a lock."""
        self._asked = True

    def outdated(self) -> str | None:
        """Return the newer schema that the heart saw, if any: this program must stop claiming."""
        return self._heart.newer

    def work(self) -> bool:
        """Work until asked to stop, or until the schema is a newer program's; then drain.

        Returns whether every task ended in time.
        """
        for consumer in self._consumers:
            consumer.start()
        pulse = threading.Thread(target=self._pulse, name="Heart", daemon=True)
        pulse.start()
        looked = time.monotonic()
        while not self._asked and self.outdated() is None:
            time.sleep(_LOOK_S)
            if time.monotonic() - looked >= _HEALTH_S:
                looked = time.monotonic()
                for consumer in self._consumers:
                    consumer.check_worker_health()
        patience = DRAIN_S if self.outdated() is None else OUTDATED_DRAIN_S
        drained = self._drain(time.monotonic() + patience)
        pulse.join(_FAREWELL_S)
        if drained and not pulse.is_alive():
            self._leave()
        return drained

    def _pulse(self) -> None:
        self._heart.beat()
        while not self._over.wait(_BEAT_S):
            self._heart.beat()

    def _leave(self) -> None:
        """Take the heartbeats away: this process ends as it should."""
        self._heart.leave()
        for consumer in self._consumers:
            consumer.leave()

    def _drain(self, end: float) -> bool:
        log.info("worker_stopping")
        for consumer in self._consumers:
            consumer.stop_flag.set()
        # Twice: the last turn of a scheduler may have begun a sweep after the first look.
        for _look in range(2):
            for thread in self._threads():
                thread.join(max(end - time.monotonic(), 0))
        self._over.set()
        return not any(thread.is_alive() for thread in self._threads())

    def _threads(self) -> list[threading.Thread]:
        return [thread for consumer in self._consumers for thread in consumer.threads()]


class QueueLog(logging.Handler):
    """Brings the library's warnings into the structured log, each at most twice a minute."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: dict[tuple[str, str], float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record of the library unless it was logged a moment ago."""
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        key = (str(record.msg), error)
        at = time.monotonic()
        if at - self._said.get(key, -_QUIET_S) < _QUIET_S:
            return
        self._said[key] = at
        details: dict[str, Any] = {"exc_info": record.exc_info} if record.exc_info else {}
        log.warning("queue_trouble", said=record.getMessage(), **details)


def listen_to_library() -> None:
    """Route the log of the queue library through structlog."""
    logger = logging.getLogger("huey")
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    logger.handlers = [QueueLog()]
