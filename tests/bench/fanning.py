"""Runs per second of the fan-out: one bulk change of many people starts a run for each."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from engine.automations import fanout
from engine.core import events
from engine.core.events import RecordedEvent
from tests.bench import cpu
from tests.bench.installation import Hints, fire, prepare
from tests.bench.lines import Line
from tests.bench.places import Db, Places, vacuum
from tests.bench.walker import installation

CHUNK: Final = 5_000


@dataclass
class Timed:
    """The fan-out with a watch: subscribed in its place."""

    seconds: float = 0.0

    def __call__(
        self, session: Session, batch: Sequence[RecordedEvent], at: datetime
    ) -> Counter[int]:
        """Start runs for the events and add up the time."""
        began = time.perf_counter()
        started = fanout.on_events(session, batch, at)
        self.seconds += time.perf_counter() - began
        return started


def measure(places: Places, db: Db, people: int) -> Line:
    """Return runs per second: of the fan-out alone, and with its events and the commit."""
    place, timed = installation(places, db), Timed()
    with place.house(Hints()) as house:
        ready = prepare(house, people)
        vacuum(place.database_url)
        events.subscribe("automations", timed)
        began, before = time.perf_counter(), cpu.read(places)
        started = fire(house, ready, CHUNK)
        seconds, used = time.perf_counter() - began, cpu.read(places).since(before)
    assert started == people, started
    places.forget(place.database_url)
    return {
        "test": "fan-out",
        "engine": "product",
        "db": db,
        "people": people,
        "runs_per_s": people / timed.seconds,
        "with_events_per_s": people / seconds,
        "client_us_a_run": 1e6 * used.client / people,
        "server_us_a_run": 1e6 * used.server / people if db == "pg" else 0.0,
    }
