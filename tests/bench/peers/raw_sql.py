"""The limit: the least SQL that walks. Claim 200, complete them, insert the next; nothing else.

No runs, no effects, no guards, no log: what is left is what the database needs for the rows alone.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.bench.lines import Line
from tests.bench.peers.effects import STEPS_A_RUN, line
from tests.bench.places import Db, Places

BATCH: Final = 200
_TABLE: Final = (
    "CREATE TABLE visit (id {key} PRIMARY KEY, run_id integer NOT NULL, place integer NOT NULL,"
    " status text NOT NULL, due double precision NOT NULL, claimed double precision,"
    " done double precision, UNIQUE (run_id, place))"
)
_INDEX: Final = "CREATE INDEX visit_due ON visit (due, id) WHERE status = 'pending'"
_DUE: Final = "SELECT id FROM visit WHERE status = 'pending' AND due <= {at} ORDER BY due, id"

_PG_CLAIM: Final = (
    "UPDATE visit SET status = 'executing', claimed = %(at)s WHERE id = ANY(ARRAY("
    + _DUE.format(at="%(at)s")
    + " LIMIT %(batch)s FOR UPDATE SKIP LOCKED)) RETURNING id, run_id, place"
)
_PG_COMPLETE: Final = (
    "UPDATE visit SET status = 'completed', done = %(at)s"
    " WHERE id = ANY(%(ids)s) AND status = 'executing'"
)
_PG_NEXT: Final = (
    "INSERT INTO visit (run_id, place, status, due)"
    " SELECT run_id, place, 'pending', %(at)s"
    " FROM unnest(%(runs)s::int[], %(places)s::int[]) AS following (run_id, place)"
    " ON CONFLICT DO NOTHING"
)
_LITE_CLAIM: Final = (
    "UPDATE visit SET status = 'executing', claimed = :at WHERE id IN ("
    + _DUE.format(at=":at")
    + " LIMIT :batch) RETURNING id, run_id, place"
)
_LITE_COMPLETE: Final = (
    "UPDATE visit SET status = 'completed', done = :at"
    " WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'executing'"
)
_LITE_NEXT: Final = (
    "INSERT OR IGNORE INTO visit (run_id, place, status, due) VALUES (?, ?, 'pending', ?)"
)
Row = tuple[int, int, int]


def measure(places: Places, db: Db, runs: int) -> Line:
    """Return the steps per second of one connection."""
    folder = places.new_folder()
    speed = _postgres(places, runs) if db == "pg" else _sqlite(folder / "raw.db", runs)
    found = line("raw SQL", "1 process", runs, speed, batch=BATCH)
    return found | {"db": db, "exec": "set", "sync": "on" if db == "pg" else "FULL"}


def _speed(beat: Callable[[], int], runs: int) -> float:
    began, walked = time.perf_counter(), 0
    while moved := beat():
        walked += moved
    seconds = time.perf_counter() - began
    assert walked == runs * STEPS_A_RUN, walked
    return walked / seconds


def _postgres(places: Places, runs: int) -> float:
    url = places.plain_url()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_TABLE.format(key="bigserial").encode())
        connection.execute(_INDEX)
        connection.execute(
            "INSERT INTO visit (run_id, place, status, due)"
            " SELECT number, 0, 'pending', 0 FROM generate_series(1, %s) AS number",
            (runs,),
        )
        connection.execute("VACUUM ANALYZE")

        def beat() -> int:
            at = time.time()
            claimed = connection.execute(
                _PG_CLAIM.encode(), {"at": at, "batch": BATCH}, prepare=True
            ).fetchall()
            with connection.transaction():
                ids = [row[0] for row in claimed]
                connection.execute(_PG_COMPLETE.encode(), {"at": at, "ids": ids}, prepare=True)
                going = _following(claimed)
                if going:
                    named: dict[str, Any] = {
                        "at": at,
                        "runs": [run_id for run_id, _ in going],
                        "places": [place for _, place in going],
                    }
                    connection.execute(_PG_NEXT.encode(), named, prepare=True)
            return len(claimed)

        speed = _speed(beat, runs)
    places.forget(url)
    return speed


def _sqlite(path: Path, runs: int) -> float:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(_TABLE.format(key="integer"))
    connection.execute(_INDEX)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(_LITE_NEXT, [(run_id, 0, 0.0) for run_id in range(runs)])
    connection.execute("COMMIT")

    def beat() -> int:
        at = time.time()
        connection.execute("BEGIN IMMEDIATE")
        claimed = connection.execute(_LITE_CLAIM, {"at": at, "batch": BATCH}).fetchall()
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        ids = json.dumps([row[0] for row in claimed])
        connection.execute(_LITE_COMPLETE, {"at": at, "ids": ids})
        connection.executemany(_LITE_NEXT, [(*one, at) for one in _following(claimed)])
        connection.execute("COMMIT")
        return len(claimed)

    try:
        return _speed(beat, runs)
    finally:
        connection.close()


def _following(claimed: Sequence[Row]) -> list[tuple[int, int]]:
    return [(run_id, place + 1) for _, run_id, place in claimed if place + 1 < STEPS_A_RUN]
