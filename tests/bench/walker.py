"""Steps per second of the product: real schema, fan-out, queue, and `stellwerk worker` processes.

`python -m tests.bench.walker --profile` walks inside this process and prints where the time goes;
`--batch N` changes how many steps a beat takes (in this process only).
"""

import argparse
import cProfile
import pstats
import sys
import time
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Engine, make_url, text

from engine.automations.effects import WalkSteps
from engine.core import clock
from engine.core.db import make_engine
from engine.core.walking import BATCH, walk
from engine.house import House
from tasks import worker
from tasks.dispatch import connect
from tests.bench import cpu
from tests.bench.children import READY, Children, pause
from tests.bench.installation import STEPS_A_RUN, Hints, Installation, Prepared, fire, prepare
from tests.bench.lines import Line, say
from tests.bench.places import Db, Places, opened, vacuum
from tests.bench.single import ONE, SET, STEP, document, steps_of
from tests.bench.statements import Statements

# A worker that has just started first looks after its timetable.
_SETTLE_S: Final = 1.5
_UNDONE: Final = text("SELECT EXISTS (SELECT 1 FROM automation_runs WHERE status = 'running')")
_FIRST: Final = text("SELECT min(started_at) FROM automation_step_runs")
_COUNTS: Final = text(
    "SELECT count(*), count(DISTINCT automation_run_id) FROM automation_step_runs"
    " WHERE status = 'completed'"
)


def measure(
    places: Places,
    db: Db,
    how: str = SET,
    workers: int = 1,
    runs: int = 2_000,
    threads: int | None = None,
) -> Line:
    """Return the steps per second of `workers` processes on a fresh installation.

    They are up before anything is due, as in a house that is at work; the hints come at once.
    threads: of each process; as many as a worker has by itself when left out.
    """
    place = installation(places, db)
    queues, dispatch = connect(place.settings())
    hints = Hints()
    with place.house(hints) as house:
        ready = _prepare(house, how, runs)
        with _children(place, how, workers, threads) as children:
            started = fire(house, ready)
            assert started == runs, started
            vacuum(place.database_url)
            if how == SET:
                dispatch([WalkSteps(tuple(ids)) for ids in hints.steps])
            children.go()
            seconds = _seconds(place.database_url, children)
    queues.close()
    _check(place.database_url, runs, how)
    places.forget(place.database_url)
    return line(db, how, workers, runs, runs * STEPS_A_RUN / seconds)


def _children(place: Installation, how: str, workers: int, threads: int | None) -> Children:
    arguments = ["tests.bench.child", "tests.bench.single", how]
    if how == SET:
        arguments = ["app", "worker", "--queues", "engine"]
        arguments += ["--workers", str(threads)] if threads else []
    children = Children(workers, arguments, place.home, place.env())
    children.wait_until_ready("worker_started" if how == SET else READY)
    pause(_SETTLE_S if how == SET else 0)
    return children


def line(db: Db, how: str, workers: int, runs: int, speed: float, **more: Any) -> Line:
    """Return the JSON line of one measurement."""
    return {
        "test": "walker",
        "engine": "product",
        "db": db,
        "exec": how,
        "workers": f"{workers} process" + ("es" if workers > 1 else ""),
        "sync": "on" if db == "pg" else "FULL",
        "runs": runs,
        "steps_per_s": speed,
        **more,
    }


def installation(places: Places, db: Db) -> Installation:
    """Return a fresh installation: PostgreSQL with Redis, or the default install on SQLite."""
    home = places.new_folder()
    url = places.product_url(db, home)
    return Installation(home, url, places.redis.next_url() if db == "pg" else None)


def _seconds(url: str, children: Children) -> float:
    """Return the time from the first claim to the end of the last run."""
    engine = make_engine(make_url(url))
    try:
        children.wait_for(lambda: not _answer(engine, _UNDONE))
        done = clock.now()
        first = _answer(engine, _FIRST)
    finally:
        engine.dispose()
    began = datetime.fromisoformat(f"{first}+00:00") if isinstance(first, str) else first
    return float((done - began).total_seconds())


def _check(url: str, runs: int, how: str) -> None:
    engine = make_engine(make_url(url))
    with engine.connect() as connection:
        steps, walked = connection.execute(_COUNTS).one()
        table = "effect" if how == STEP else "email_sends"
        effects = connection.scalar(text(f"SELECT count(*) FROM {table}"))
    engine.dispose()
    wanted = runs * (STEPS_A_RUN if how == STEP else 2)
    assert (steps, walked, effects) == (runs * STEPS_A_RUN, runs, wanted), (steps, walked, effects)


def _prepare(house: House, how: str, runs: int) -> Prepared:
    steps_of(house, how)
    return prepare(house, runs, document(house) if how == STEP else None)


def _answer(engine: Engine, question: Any) -> Any:
    with engine.connect() as connection:
        return connection.scalar(question)


def walk_here(
    places: Places,
    db: Db,
    how: str,
    runs: int,
    batch: int = BATCH,
    profile: str | None = None,
    statements: bool = False,
) -> Line:
    """Return the steps per second of a walk inside this process, without queue and threads."""
    place, hints = installation(places, db), Hints()
    with place.house(hints) as house:
        ready = _prepare(house, how, runs)
        assert fire(house, ready) == runs
        vacuum(place.database_url)
        worker._spare_collector()
        asked = Statements(house.runtime.database.engine) if statements else None
        watch = cProfile.Profile()
        if profile:
            watch.enable()
        began, before = time.perf_counter(), cpu.read(places)
        beats = _serve_hints(house, hints, how, batch)
        seconds, used = time.perf_counter() - began, cpu.read(places).since(before)
        watch.disable()
        if asked:
            asked.tell(beats, seconds)
    _check(place.database_url, runs, how)
    places.forget(place.database_url)
    if profile:
        statistics = pstats.Stats(watch, stream=sys.stderr)
        statistics.sort_stats("cumulative").print_stats(60)
        statistics.sort_stats("tottime").print_stats(40)
        statistics.dump_stats(profile)
    steps = runs * STEPS_A_RUN
    more = {
        "here": True,
        "batch": batch,
        "client_us_a_step": 1e6 * used.client / steps,
        "server_us_a_step": 1e6 * used.server / steps if db == "pg" else 0.0,
    }
    return line(db, how, 1, runs, steps / seconds, **more)


def _serve_hints(house: House, hints: Hints, how: str, batch: int) -> int:
    walker, beats = steps_of(house, how), 0
    while hints.steps:
        report = walk(walker, hints.steps.popleft(), batch)
        beats += report.beats
        if report.left:
            hints.steps.append(report.left)
    return beats


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["pg", "sqlite"], default="pg")
    parser.add_argument("--exec", choices=[SET, STEP, ONE], default=SET, dest="how")
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--here", action="store_true", help="walk inside this process")
    parser.add_argument("--batch", type=int, default=BATCH, help="with --here or --profile")
    parser.add_argument("--profile", nargs="?", const="walker.prof", metavar="FILE")
    parser.add_argument("--statements", action="store_true", help="time each statement")
    asked = parser.parse_args()
    with opened() as places:
        for _ in range(asked.rounds):
            if asked.here or asked.profile or asked.statements:
                say(
                    walk_here(
                        places,
                        asked.db,
                        asked.how,
                        asked.runs,
                        asked.batch,
                        asked.profile,
                        asked.statements,
                    )
                )
            else:
                say(
                    measure(places, asked.db, asked.how, asked.processes, asked.runs, asked.threads)
                )


if __name__ == "__main__":
    main()
