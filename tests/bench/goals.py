"""The gates and targets of the engine, and what the measurements say to each."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.lines import Line

_PROCRASTINATE: Final = ("procrastinate 1", "procrastinate 2")
_DBOS: Final = ("dbos 1", "dbos 2")


@dataclass(frozen=True)
class Results:
    """What the lines say: medians over the rounds, and the figures of single measurements."""

    lines: Sequence[Line]

    def speeds(self) -> Mapping[int, Mapping[str, float]]:
        """Return the steps per second by round and name, in the order they were measured."""
        found: dict[int, dict[str, float]] = {}
        for line in self.lines:
            if "round" in line:
                found.setdefault(line["round"], {})[line["name"]] = float(line["steps_per_s"])
        return found

    def median(self, name: str) -> float | None:
        """Return the median speed of an engine; None when it was not measured."""
        found = [one[name] for one in self.speeds().values() if name in one]
        return statistics.median(found) if found else None

    def ratio(self, name: str, peers: Sequence[str]) -> float | None:
        """Return the median of the rounds' ratios to the best of `peers`."""
        found = [
            one[name] / max(one[peer] for peer in peers)
            for one in self.speeds().values()
            if name in one and all(peer in one for peer in peers)
        ]
        return statistics.median(found) if found else None

    def value(self, test: str, name: str, db: str, rows: int | None = None) -> float | None:
        """Return one figure of a single measurement; of several sizes the largest."""
        found = [
            line
            for line in self.lines
            if line["test"] == test and line["db"] == db and rows in (None, line.get("rows"))
        ]
        if not found:
            return None
        return float(max(found, key=lambda line: int(line.get("rows", 0)))[name])

    def growth(self, name: str, db: str) -> float | None:
        """Return a time at the largest number of rows by that at the smallest."""
        sizes = [line["rows"] for line in self.lines if line["test"] == "growing"]
        most = self.value("growing", name, db)
        least = self.value("growing", name, db, min(sizes)) if sizes else None
        return most / least if most and least and len(set(sizes)) > 1 else None


@dataclass(frozen=True)
class Goal:
    """One line of the table. gate, target: what is asked; at_most: smaller is better."""

    number: str
    text: str
    unit: str
    gate: float
    target: float | None
    measured: Callable[[Results], float | None]
    at_most: bool = False

    def verdict(self, value: float | None) -> str:
        """Return whether the gate is met, and the target too where there is one."""
        if value is None:
            return "not measured"
        if not self._reaches(value, self.gate):
            return "**missed**"
        if self.target is None:
            return "met"
        return "target met" if self._reaches(value, self.target) else "gate met"

    def _reaches(self, value: float, asked: float) -> bool:
        return value <= asked if self.at_most else value >= asked


def _ratio(name: str, *peers: str) -> Callable[[Results], float | None]:
    return lambda results: results.ratio(name, peers)


def _share(name: str, peer: str) -> Callable[[Results], float | None]:
    def percent(results: Results) -> float | None:
        found = results.ratio(name, (peer,))
        return None if found is None else 100 * found

    return percent


def _value(test: str, name: str, db: str) -> Callable[[Results], float | None]:
    return lambda results: results.value(test, name, db)


def _growth(name: str, db: str) -> Callable[[Results], float | None]:
    return lambda results: results.growth(name, db)


def _speeds() -> list[Goal]:
    pg, pg2 = "product pg set 1", "product pg step 2"
    single, lite = "product pg step 1", "product sqlite set 1"
    best = "the better of 1 and 2 Procrastinate processes"
    return [
        Goal("1", f"PostgreSQL, set-wise, to {best}", "x", 10, 25, _ratio(pg, *_PROCRASTINATE)),
        Goal("2", "PostgreSQL, a commit a step, to the same", "x", 2, None,
             _ratio(single, *_PROCRASTINATE)),
        Goal("2", "the same with two processes", "x", 2, 5, _ratio(pg2, *_PROCRASTINATE)),
        Goal("3", "PostgreSQL, set-wise, of raw SQL", "%", 25, 40, _share(pg, "raw pg")),
        Goal("4", "SQLite, set-wise, to Procrastinate", "x", 20, 60,
             _ratio(lite, *_PROCRASTINATE)),
        Goal("4", "SQLite, a commit a step, to Procrastinate", "x", 3, None,
             _ratio("product sqlite step 1", *_PROCRASTINATE)),
        Goal("5", "SQLite, set-wise, of raw SQL", "%", 15, None, _share(lite, "raw sqlite")),
        Goal("6", "PostgreSQL, set-wise, to one Huey task a step", "x", 5, None,
             _ratio(pg, "huey")),
        Goal("7", "PostgreSQL, set-wise, to the better DBOS", "x", 10, 30, _ratio(pg, *_DBOS)),
        Goal("7", "PostgreSQL, a commit a step, to DBOS", "x", 3, None, _ratio(single, *_DBOS)),
    ]  # fmt: skip


def _times() -> list[Goal]:
    late, idle = "lateness", "worst_after_idle_s"
    found = [
        Goal("8", "a due step is taken up, p99, PostgreSQL and Redis", "s", 1.5, None,
             _value(late, "p99_s", "pg"), at_most=True),
        Goal("8", "the same, SQLite", "s", 1.5, None,
             _value(late, "p99_s", "sqlite"), at_most=True),
        Goal("8", "the same after a long idleness, SQLite, worst", "s", 1.5, None,
             _value(late, idle, "sqlite"), at_most=True),
    ]  # fmt: skip
    for db, name in (("pg", "PostgreSQL"), ("sqlite", "SQLite")):
        found += [
            Goal("9", f"claim at the most finished rows, to the fewest, {name}", "x", 2, None,
                 _growth("claim_ms", db), at_most=True),
            Goal("-", f"sweep with nothing due at the most waiting rows, {name}", "ms", 5, None,
                 _value("growing", "sweep_ms", db), at_most=True),
            Goal("-", f"the same to the fewest waiting rows, {name}", "x", 1.5, None,
                 _growth("sweep_ms", db), at_most=True),
        ]  # fmt: skip
    return [
        *found,
        Goal("-", "fan-out of one bulk change, PostgreSQL", "runs/s", 20_000, None,
             _value("fan-out", "runs_per_s", "pg")),
        Goal("-", "growth of a worker's memory", "MB", 50, None,
             _value("memory", "spread_mb", "pg"), at_most=True),
        Goal("-", "slowest page of the console over a crowd of runs, p95", "ms", 150, None,
             _value("console", "slowest_ms", "pg"), at_most=True),
        Goal("-", "swap of the rail in an editor of 60 steps, p95", "ms", 100, None,
             _value("console", "rail_ms", "pg"), at_most=True),
    ]  # fmt: skip


GOALS: Final[Sequence[Goal]] = (*_speeds(), *_times())
