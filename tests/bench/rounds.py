"""Interleaved rounds of the product and its peers, and the medians of what each round says."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.bench import walker
from tests.bench.lines import Line, note, say
from tests.bench.peers import dbos_walker, huey_walker, procrastinate_walker, raw_sql
from tests.bench.places import Places
from tests.bench.single import ONE, SET, STEP

Run = Callable[[Places], Line]
# Speeds of one round by the name of the run.
Round = Mapping[str, float]


@dataclass(frozen=True)
class Size:
    """How much is measured: rounds, runs of the quick engines and of the slow ones."""

    name: str
    rounds: int
    quick: int
    slow: int
    single: int
    with_dbos: bool
    waiting: int
    changed: int
    memory_steps: int
    late: int
    idle_s: float
    idle_times: int


SMALL: Final = Size("small", 1, 2_000, 300, 500, False, 50_000, 20_000, 20_000, 40, 10.0, 1)
FULL: Final = Size("full", 3, 5_000, 2_000, 2_000, True, 1_000_000, 100_000, 200_000, 120, 60.0, 3)
SIZES: Final = {size.name: size for size in (SMALL, FULL)}


def runs(size: Size) -> Mapping[str, Run]:
    """Return the runs of one round, in their order."""
    quick, slow, single = size.quick, size.slow, size.single
    chosen: dict[str, Run] = {
        "procrastinate 1": lambda places: procrastinate_walker.measure(places, 1, slow),
        "product pg set 1": lambda places: walker.measure(places, "pg", SET, 1, quick),
        "raw pg": lambda places: raw_sql.measure(places, "pg", quick),
        "procrastinate 2": lambda places: procrastinate_walker.measure(places, 2, slow),
        "product pg set 2": lambda places: walker.measure(places, "pg", SET, 2, quick),
        "product pg step 1": lambda places: walker.measure(places, "pg", STEP, 1, single),
        "product pg step 2": lambda places: walker.measure(places, "pg", STEP, 2, single),
        "product pg one 1": lambda places: walker.measure(places, "pg", ONE, 1, single),
        "huey": lambda places: huey_walker.measure(places, slow),
        "product sqlite set 1": lambda places: walker.measure(places, "sqlite", SET, 1, quick),
        "raw sqlite": lambda places: raw_sql.measure(places, "sqlite", quick),
        "product sqlite step 1": lambda places: walker.measure(places, "sqlite", STEP, 1, single),
    }
    if size.with_dbos:
        chosen["dbos 1"] = lambda places: dbos_walker.measure(places, 1, slow)
        chosen["dbos 2"] = lambda places: dbos_walker.measure(places, 2, slow)
    return chosen


@dataclass
class Rounds:
    """The speeds of all rounds."""

    speeds: list[Round] = field(default_factory=list)

    def median(self, name: str) -> float | None:
        """Return the median speed of a run; None when it was not measured."""
        found = [one[name] for one in self.speeds if name in one]
        return statistics.median(found) if found else None

    def ratio(self, name: str, peers: Sequence[str]) -> float | None:
        """Return the median of the rounds' ratios to the best of `peers`."""
        found = [
            one[name] / max(one[peer] for peer in peers)
            for one in self.speeds
            if name in one and all(peer in one for peer in peers)
        ]
        return statistics.median(found) if found else None


def measure(places: Places, size: Size, times: int) -> Rounds:
    """Run every engine once a round; each speed is printed as it comes."""
    rounds = Rounds()
    for number in range(times):
        note(f"round {number + 1} of {times}")
        speeds = {
            name: float(say({**run(places), "round": number + 1})["steps_per_s"])
            for name, run in runs(size).items()
        }
        rounds.speeds.append(speeds)
    return rounds
