"""Interleaved rounds of the product and its peers: in each round every engine runs once."""

from collections.abc import Callable, Iterable, Mapping

from tests.bench import walker
from tests.bench.lines import Line, note, say
from tests.bench.peers import dbos_walker, huey_walker, procrastinate_walker, raw_sql
from tests.bench.places import Places
from tests.bench.single import ONE, SET, STEP
from tests.bench.sizes import Size

Run = Callable[[Places], Line]


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
        "product pg one 1": lambda places: walker.measure(places, "pg", ONE, 1, single // 4),
        "huey": lambda places: huey_walker.measure(places, slow),
        "product sqlite set 1": lambda places: walker.measure(places, "sqlite", SET, 1, quick),
        "raw sqlite": lambda places: raw_sql.measure(places, "sqlite", quick),
        "product sqlite step 1": lambda places: walker.measure(places, "sqlite", STEP, 1, single),
    }
    if size.with_dbos:
        chosen["dbos 1"] = lambda places: dbos_walker.measure(places, 1, slow)
        chosen["dbos 2"] = lambda places: dbos_walker.measure(places, 2, slow)
    return chosen


def measure(places: Places, size: Size, numbers: Iterable[int]) -> list[Line]:
    """Run every engine once in each numbered round; each line is printed as it comes."""
    found: list[Line] = []
    for number in numbers:
        note(f"round {number}")
        for name, run in runs(size).items():
            found.append(say({**run(places), "name": name, "round": number}))
    return found
