"""The plain way: one Huey task a step (Redis), each with its own claim, effect and completion."""

import logging
import time
from importlib.metadata import version
from typing import Any, Final

import psycopg
from huey import RedisHuey
from sqlalchemy import create_engine, text

from tests.bench.children import Children, wait_for_go
from tests.bench.lines import Line
from tests.bench.peers.effects import STEPS_A_RUN, TABLE, Progress, line
from tests.bench.places import Places

THREADS: Final = 4
_TABLES: Final = (
    TABLE,
    "CREATE TABLE automation (id integer PRIMARY KEY, status text NOT NULL)",
    "CREATE TABLE run (id bigserial PRIMARY KEY, automation_id integer NOT NULL,"
    " status text NOT NULL, place integer NOT NULL DEFAULT 0, executed integer NOT NULL DEFAULT 0)",
    "CREATE TABLE visit (id bigserial PRIMARY KEY, run_id bigint NOT NULL, place integer NOT NULL,"
    " status text NOT NULL, due double precision NOT NULL, claimed double precision,"
    " done double precision, UNIQUE (run_id, place))",
    "CREATE INDEX visit_due ON visit (due, id) WHERE status = 'pending'",
    "INSERT INTO automation VALUES (1, 'active')",
)
_CLAIM: Final = text(
    "UPDATE visit SET status = 'executing', claimed = :at WHERE id = :id AND status = 'pending'"
    " RETURNING run_id, place"
)
_STATUS: Final = text(
    "SELECT automation.status FROM run JOIN automation ON automation.id = run.automation_id"
    " WHERE run.id = :run"
)
_EFFECT: Final = text("INSERT INTO effect VALUES (:run, :place)")
_COMPLETE: Final = text("UPDATE visit SET status = 'completed', done = :at WHERE id = :id")
_ADVANCE: Final = text(
    "UPDATE run SET place = :place, executed = executed + 1, status = :status WHERE id = :run"
)
_NEXT: Final = text(
    "INSERT INTO visit (run_id, place, status, due) VALUES (:run, :place, 'pending', :at)"
    " RETURNING id"
)


class Engine:
    """The queue, the database, and the one task."""

    def __init__(self, url: str, redis_url: str) -> None:
        self.queue: Any = RedisHuey("peer", url=redis_url, results=False)
        self.database = create_engine(url, pool_size=10)
        self.task: Any = self.queue.task(name="take_step")(self.take_step)

    def take_step(self, visit_id: int) -> None:
        """Claim, execute and complete one visit in three commits; enqueue the next."""
        with self.database.begin() as connection:
            claimed = connection.execute(_CLAIM, {"at": time.time(), "id": visit_id}).first()
            if claimed is None:
                return
            run = {"run": claimed.run_id, "place": claimed.place}
            if connection.scalar(_STATUS, run) != "active":
                return
        with self.database.begin() as connection:
            connection.execute(_EFFECT, run)
        following = self._complete(visit_id, run)
        if following is not None:
            self.task(following)

    def _complete(self, visit_id: int, run: dict[str, int]) -> int | None:
        place = run["place"] + 1
        status = "completed" if place == STEPS_A_RUN else "running"
        with self.database.begin() as connection:
            connection.execute(_COMPLETE, {"at": time.time(), "id": visit_id})
            connection.execute(_ADVANCE, {**run, "place": place, "status": status})
            if place == STEPS_A_RUN:
                return None
            found = connection.scalar(_NEXT, {**run, "place": place, "at": time.time()})
            return int(found or 0)

    def serve(self) -> None:
        """Work with threads until told to stop."""
        logging.getLogger("huey").setLevel(logging.WARNING)
        self.queue.create_consumer(
            workers=THREADS, periodic=False, initial_delay=0.05, max_delay=0.2
        ).run()


def measure(places: Places, runs: int) -> Line:
    """Return the steps per second of one process with threads."""
    url, redis_url = places.plain_url(), places.redis.next_url()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO run (automation_id, status)"
            " SELECT 1, 'running' FROM generate_series(1, %s)",
            (runs,),
        )
        visits = connection.execute(
            "INSERT INTO visit (run_id, place, status, due) SELECT id, 0, 'pending', 0 FROM run"
            " RETURNING id"
        ).fetchall()
        connection.execute("VACUUM ANALYZE")
    address = url.replace("postgresql://", "postgresql+psycopg://")
    waiting = Engine(address, redis_url)
    for (visit_id,) in visits:
        waiting.task(visit_id)
    arguments = ["tests.bench.child", __name__, address, redis_url]
    with Children(1, arguments, places.new_folder(), None) as children:
        children.wait_until_ready()
        children.go()
        speed = Progress(url, runs * STEPS_A_RUN).speed(children)
    places.forget(url)
    return line("huey per step", f"{THREADS} threads", runs, speed, version=version("huey"))


def serve(url: str, redis_url: str) -> None:
    """Work in a child process."""
    engine = Engine(url, redis_url)
    wait_for_go()
    engine.serve()
