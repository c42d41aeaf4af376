"""Entry of `make bench`: measures the product beside its peers and prints lines and a table."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tests.bench import console, fanning, growing, lateness, memory, rounds, table
from tests.bench.goals import GOALS, Results
from tests.bench.lines import Line, note, say
from tests.bench.places import Db, Places, opened
from tests.bench.sizes import SIZES, Size
from tests.support import programs

WALKERS: Final = "walkers"
_BOTH: Final[Sequence[Db]] = ("pg", "sqlite")
_FEW: Final = 10_000


def _growing(places: Places, size: Size) -> list[Line]:
    return [
        say(growing.measure(places, db, number)) for db in _BOTH for number in (_FEW, size.waiting)
    ]


def _lateness(places: Places, size: Size) -> list[Line]:
    times = {"pg": 1, "sqlite": size.idle_times}
    return [say(lateness.measure(places, db, size.late, size.idle_s, times[db])) for db in _BOTH]


def _fanning(places: Places, size: Size) -> list[Line]:
    return [say(fanning.measure(places, "pg", size.changed))]


def _memory(places: Places, size: Size) -> list[Line]:
    return [say(memory.measure(places, size.memory_steps))]


def _console(places: Places, size: Size) -> list[Line]:
    return console.measure(places, size.crowd)


SINGLES: Final[dict[str, Callable[[Places, Size], list[Line]]]] = {
    "console": _console,
    "fan-out": _fanning,
    "growing": _growing,
    "lateness": _lateness,
    "memory": _memory,
}


def main() -> int:
    """Measure, print the table, and answer 1 when a gate is missed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("size", choices=sorted(SIZES), default="small", nargs="?")
    parser.add_argument("--only", choices=[WALKERS, *SINGLES, "nothing"], action="append")
    parser.add_argument("--rounds", type=int, help="rounds of the walkers")
    parser.add_argument("--into", type=Path, help="a file whose table is replaced")
    parser.add_argument("--lines", type=Path, help="a file that keeps the lines of several calls")
    asked = parser.parse_args()
    lacking = programs.has_database_servers()
    if lacking:
        note(f"The benchmark needs {' and '.join(lacking)} on this machine.")
        return 2
    size, wanted = SIZES[asked.size], asked.only or [WALKERS, *SINGLES]
    with opened() as places:
        results = Results(_measure(places, size, wanted, asked.rounds or size.rounds, asked.lines))
        written = table.markdown(results, size, places)
    print(f"\n{written}")
    if asked.into:
        table.write(asked.into, written)
    return int(any("missed" in goal.verdict(goal.measured(results)) for goal in GOALS))


def _measure(
    places: Places, size: Size, wanted: Sequence[str], times: int, kept: Path | None
) -> list[Line]:
    """Measure what is wanted; lines of earlier calls in `kept` count too, and are added to."""
    lines: list[Line] = []
    if kept is not None and kept.exists():
        lines = [json.loads(one) for one in kept.read_text().splitlines()]
    first = 1 + max((line.get("round", 0) for line in lines), default=0)
    new: list[Line] = []
    if WALKERS in wanted:
        new = rounds.measure(places, size, range(first, first + times))
    for name in wanted:
        if name in SINGLES:
            new += SINGLES[name](places, size)
    if kept is not None:
        with kept.open("a") as output:
            output.writelines(f"{json.dumps(line)}\n" for line in new)
    return [*_outdated(lines, new), *new]


def _outdated(lines: Sequence[Line], new: Sequence[Line]) -> list[Line]:
    """Return the earlier lines without single measurements that were repeated."""
    repeated = {line["test"] for line in new if "round" not in line}
    return [line for line in lines if "round" in line or line["test"] not in repeated]


if __name__ == "__main__":
    sys.exit(main())
