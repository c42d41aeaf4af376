"""What every peer's step does: one row in `effect`. The rows are what is counted."""

import time
from dataclasses import dataclass, field
from typing import Final

import psycopg

from tests.bench.children import Children

STEPS_A_RUN: Final = 4
TABLE: Final = "CREATE TABLE effect (run_id integer NOT NULL, place integer NOT NULL)"


@dataclass
class Progress:
    """Counts the effects of a database while children work."""

    url: str
    total: int
    _first: tuple[float, int] | None = None
    _connection: psycopg.Connection = field(init=False)

    def __post_init__(self) -> None:
        self._connection = psycopg.connect(self.url, autocommit=True)

    def speed(self, children: Children) -> float:
        """Return the steps per second from the first effect seen to the last one."""
        try:
            children.wait_for(self._done)
        finally:
            self._connection.close()
        assert self._first is not None
        began, before = self._first
        return (self.total - before) / (time.perf_counter() - began)

    def _done(self) -> bool:
        row = self._connection.execute("SELECT count(*) FROM effect").fetchone()
        number = int(row[0]) if row else 0
        if number and self._first is None:
            self._first = (time.perf_counter(), number)
        return number >= self.total


def line(engine: str, workers: str, runs: int, speed: float, **more: object) -> dict[str, object]:
    """Return the JSON line of a peer."""
    return {
        "test": "walker",
        "engine": engine,
        "db": "pg",
        "exec": "step",
        "workers": workers,
        "sync": "on",
        "runs": runs,
        "steps_per_s": speed,
        **more,
    }
