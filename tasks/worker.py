"""One worker process: its house, the queues it serves, its orders to stop."""

import gc
import os
import signal
import sys
import threading
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
_COLLECT_EVERY: Final = 50_000
# The code of a worker whose program is older than the schema; starting it again is of no use
# (EX_CONFIG of sysexits.h).
OUTDATED: Final = 78


def crew(queues: Queues, house: House, names: Sequence[str], threads: int) -> Crew:
    """Return the consumers of the named queues; the timetable goes with the engine queue."""
    queues.attach(house)
    timetable = Timetable(house)
    consumers = [
        QueueConsumer(queues.by_name[name], threads, timetable if name == ENGINE else None)
        for name in names
    ]
    return Crew(consumers, Heart(house.runtime.uow, ROLE))


def _spare_collector() -> None:
    """Keep the garbage collector off what stays, and let it come less often.

    A batch makes thousands of short-lived rows; going through all modules for each of them took a
    fifth of a worker's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY)


def _log_crash(crash: threading.ExceptHookArgs) -> None:
    """Log what broke a thread like everything else; the other threads go on."""
    name = crash.thread.name if crash.thread else ""
    trace = (crash.exc_type, crash.exc_value, crash.exc_traceback)
    log.error("thread_crashed", thread=name, exc_info=trace)


def run(
    settings: Settings,
    names: Sequence[str] = NAMES,
    threads: int | None = None,
    *,
    tied: bool = False,
) -> None:
    """Serve the named queues until SIGTERM or SIGINT, then drain and end the process.

    Ends by itself, with the code OUTDATED, once the schema is a newer program's.

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
    threading.excepthook = _log_crash
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    _spare_collector()
    log.info("worker_started", queues=list(names), threads=threads or settings.workers)
    drained = made.work()
    code = 0
    if made.outdated() is not None:
        log.error("schema_newer", schema=made.outdated(), remedy="start the newer Stellwerk")
        code = OUTDATED
    log.info("worker_stopped", drained=drained)
    if not drained:
        # Threads that hang must not hold the process; their rows are taken up when leases end.
        sys.stderr.flush()
        os._exit(code)
    house.close()
    queues.close()
    if code:
        sys.exit(code)
