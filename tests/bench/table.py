"""The table of the README, made from results: goals, speeds, date and machine."""

import os
import platform
import sqlite3
from importlib.metadata import version
from pathlib import Path
from typing import Final

import psycopg

from engine.core import clock
from tests.bench.goals import GOALS, Goal, Results
from tests.bench.places import Places, libpq
from tests.bench.sizes import Size

BEGIN: Final = "<!-- bench -->"
END: Final = "<!-- /bench -->"


def markdown(results: Results, size: Size, places: Places) -> str:
    """Return what stands between the marks: one paragraph and two tables."""
    goals = ["| goal | what | gate | target | measured | |", "|---|---|---|---|---|---|"]
    goals += [_goal(goal, goal.measured(results)) for goal in GOALS]
    speeds = ["| engine | steps/s |", "|---|---|"]
    rounds = results.speeds()
    names = dict.fromkeys(name for one in rounds.values() for name in one)
    speeds += [f"| {name} | {results.median(name):,.0f} |" for name in names]
    intro = (
        f"Measured on {clock.now():%d %B %Y} by `make bench SIZE={size.name}` on "
        f"{_machine(places)}. Speeds are medians of {len(rounds)} rounds, ratios medians of the "
        "rounds' ratios."
    )
    return "\n".join([intro, "", *goals, "", *speeds])


def write(path: Path, table: str) -> None:
    """Put the table between the marks of a file."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{path} has no {BEGIN} … {END}")
    path.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def _goal(goal: Goal, value: float | None) -> str:
    sign = "≤" if goal.at_most else "≥"
    cells = (
        goal.number,
        goal.text,
        f"{sign} {_figure(goal.gate, goal.unit)}",
        "" if goal.target is None else f"{sign} {_figure(goal.target, goal.unit)}",
        "" if value is None else _figure(value, goal.unit),
        goal.verdict(value),
    )
    return f"| {' | '.join(cells)} |"


def _figure(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"
    if unit == "x":
        return f"{number} times"
    return f"{number} {unit}"


def _machine(places: Places) -> str:
    with psycopg.connect(libpq(places.postgres.url("postgres"))) as connection:
        found = connection.execute("SHOW server_version").fetchone()
    server = str(found[0]).split()[0] if found else "?"
    return (
        f"{os.cpu_count()} cores ({platform.system()} {platform.machine()}), "
        f"Python {platform.python_version()}, PostgreSQL {server} with fsync, "
        f"SQLite {sqlite3.sqlite_version} with synchronous FULL, "
        f"SQLAlchemy {version('sqlalchemy')}, Procrastinate {version('procrastinate')}"
    )
