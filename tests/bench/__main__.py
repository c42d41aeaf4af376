"""Entry of `make bench`: measures the product beside its peers and prints lines and a table."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tests.bench import fanning, growing, lateness, memory, rounds, table
from tests.bench.goals import GOALS, Results
from tests.bench.lines import Line, note, say
from tests.bench.places import Db, Places, opened
from tests.bench.rounds import SIZES, Rounds, Size
from tests.support import programs

WALKERS: Final = "walkers"
_BOTH: Final[Sequence[Db]] = ("pg", "sqlite")
_FEW: Final = 10_000


def _growing(places: Places, size: Size) -> list[Line]:
    return [
        say(growing.measure(places, db, number)) for db in _BOTH for number in (_FEW, size.waiting)
    ]


def _lateness(places: Places, size: Size) -> list[Line]:
    return [
        say(lateness.measure(places, db, size.late, size.idle_s, size.idle_times)) for db in _BOTH
    ]


def _fanning(places: Places, size: Size) -> list[Line]:
    return [say(fanning.measure(places, "pg", size.changed))]


def _memory(places: Places, size: Size) -> list[Line]:
    return [say(memory.measure(places, size.memory_steps))]


SINGLES: Final[dict[str, Callable[[Places, Size], list[Line]]]] = {
    "fan-out": _fanning,
    "growing": _growing,
    "lateness": _lateness,
    "memory": _memory,
}


def main() -> int:
    """Measure, print the table, and answer 1 when a gate is missed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("size", choices=sorted(SIZES), default="small", nargs="?")
    parser.add_argument("--only", choices=[WALKERS, *SINGLES], action="append")
    parser.add_argument("--rounds", type=int, help="rounds of the walkers")
    parser.add_argument("--into", type=Path, help="a file whose table is replaced")
    asked = parser.parse_args()
    lacking = programs.has_database_servers()
    if lacking:
        note(f"The benchmark needs {' and '.join(lacking)} on this machine.")
        return 2
    size, wanted = SIZES[asked.size], asked.only or [WALKERS, *SINGLES]
    with opened() as places:
        walked = Rounds()
        if WALKERS in wanted:
            walked = rounds.measure(places, size, asked.rounds or size.rounds)
        lines = [line for name in wanted if name in SINGLES for line in SINGLES[name](places, size)]
        results = Results(walked, lines)
        written = table.markdown(results, size, places)
    print(f"\n{written}")
    if asked.into:
        table.write(asked.into, written)
    return int(any("missed" in goal.verdict(goal.measured(results)) for goal in GOALS))


if __name__ == "__main__":
    sys.exit(main())
