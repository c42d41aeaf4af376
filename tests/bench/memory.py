"""Whether a worker's memory stays flat: its resident size while it takes many steps."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, make_url, text

from engine.automations.effects import WalkSteps
from engine.core.db import make_engine
from tasks.dispatch import connect
from tests.bench.children import Children
from tests.bench.installation import STEPS_A_RUN, Hints, fire, prepare
from tests.bench.lines import Line
from tests.bench.places import Places, vacuum
from tests.bench.walker import installation

_LEFT: Final = text("SELECT count(*) FROM automation_runs WHERE status = 'running'")
# A worker that has just started still loads what it needs; after a tenth of the work it has.
_WARM: Final = 0.1


@dataclass
class Watch:
    """Looks at the size of a process each time it is asked whether the work is done."""

    engine: Engine
    pid: int
    total: int
    sizes: list[float] = field(default_factory=list)

    def done(self) -> bool:
        """Note the size once the worker is warm; return whether no run is left."""
        with self.engine.connect() as connection:
            left = int(connection.scalar(_LEFT) or 0)
        if left <= self.total * (1 - _WARM):
            self.sizes.append(resident_mb(self.pid))
        return left == 0


def measure(places: Places, steps: int) -> Line:
    """Return the least and the largest resident size of one worker over `steps` steps, in MB."""
    place, hints = installation(places, "pg"), Hints()
    queues, dispatch = connect(place.settings())
    runs = steps // STEPS_A_RUN
    arguments = ["app", "worker", "--queues", "engine"]
    with place.house(hints) as house:
        assert fire(house, prepare(house, runs), 5_000) == runs
        vacuum(place.database_url)
    engine = make_engine(make_url(place.database_url))
    with Children(1, arguments, place.home, place.env()) as children:
        children.wait_until_ready("worker_started")
        dispatch([WalkSteps(tuple(ids)) for ids in hints.steps])
        watch = Watch(engine, children.pids[0], runs)
        children.wait_for(watch.done)
    engine.dispose()
    queues.close()
    places.forget(place.database_url)
    return {
        "test": "memory",
        "engine": "product",
        "db": "pg",
        "steps": steps,
        "least_mb": min(watch.sizes),
        "most_mb": max(watch.sizes),
        "spread_mb": max(watch.sizes) - min(watch.sizes),
    }


def resident_mb(pid: int) -> float:
    """Return the resident size of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None, status
    return int(found[1]) / 1_000
