"""One worker process: its house, the queues it serves, its orders to stop."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

import structlog

import engine.house
from engine.core.settings import Settings
from engine.house import House
from tasks.consumer import Crew, QueueConsumer, listen_to_library
from tasks.dispatch import connect
from tasks.lifeline import tie
from tasks.periodic import Heart, Timetable
from tasks.queue import ENGINE, NAMES, Queues

log: Final = structlog.get_logger(__name__)

ROLE: Final = "worker"


def crew(queues: Queues, house: House, names: Sequence[str], threads: int) -> Crew:
    """Return the consumers of the named queues; the timetable goes with the engine queue."""
    queues.attach(house)
    timetable = Timetable(queues, house)
    consumers = [
        QueueConsumer(queues.by_name[name], threads, timetable if name == ENGINE else None)
        for name in names
    ]
    return Crew(consumers, Heart(house.runtime.uow, ROLE))


def run(
    settings: Settings,
    names: Sequence[str] = NAMES,
    threads: int | None = None,
    *,
    tied: bool = False,
) -> None:
    """Serve the named queues until SIGTERM or SIGINT, then drain and end the process.

    threads: per queue; None takes STELLWERK_WORKERS. tied: also end when the parent is gone.
    """
    queues, dispatch = connect(settings)
    house = engine.house.start(settings, dispatch)
    listen_to_library()
    made = crew(queues, house, names, threads or settings.workers)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        made.stop()

    if tied:
        tie(made.stop)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    log.info("worker_started", queues=list(names), threads=threads or settings.workers)
    drained = made.work()
    log.info("worker_stopped", drained=drained)
    if not drained:
        # Threads that hang must not hold the process; their rows are taken up when leases end.
        sys.stderr.flush()
        os._exit(0)
    house.close()
    queues.close()
