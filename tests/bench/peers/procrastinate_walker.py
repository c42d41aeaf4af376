"""Procrastinate on PostgreSQL: an async job writes its effect and defers the next job."""

import asyncio
from importlib.metadata import version
from typing import Any, Final

import procrastinate
import psycopg
from psycopg_pool import AsyncConnectionPool

from tests.bench.children import Children, wait_for_go
from tests.bench.lines import Line
from tests.bench.peers.effects import STEPS_A_RUN, TABLE, Progress, line
from tests.bench.places import Places

CONCURRENCY: Final = 30
_QUEUE: Final = "steps"
_DEFER: Final = 500


class Engine:
    """The application with its one job, and the connections the job writes with."""

    def __init__(self, url: str) -> None:
        connector = procrastinate.PsycopgConnector(conninfo=url, min_size=4, max_size=20)
        self.app: Any = procrastinate.App(connector=connector)
        self.job: Any = self.app.task(queue=_QUEUE, name="take_step")(self.take_step)
        self.effects: Any = AsyncConnectionPool(
            url, min_size=4, max_size=20, open=False, kwargs={"autocommit": True}
        )

    async def take_step(self, run_id: int, place: int) -> None:
        """Write the effect in a commit of its own, then defer the next step."""
        async with self.effects.connection() as connection:
            await connection.execute("INSERT INTO effect VALUES (%s, %s)", (run_id, place))
        if place + 1 < STEPS_A_RUN:
            await self.job.defer_async(run_id=run_id, place=place + 1)

    async def prepare(self, runs: int) -> None:
        """Make the tables and defer the first step of every run."""
        async with self.app.open_async():
            await self.app.schema_manager.apply_schema_async()
            for start in range(0, runs, _DEFER):
                jobs = [
                    {"run_id": run_id, "place": 0}
                    for run_id in range(start, min(start + _DEFER, runs))
                ]
                await self.job.batch_defer_async(*jobs)

    async def work(self) -> None:
        """Serve the queue until told to stop."""
        await self.effects.open()
        async with self.app.open_async():
            await self.app.run_worker_async(queues=[_QUEUE], concurrency=CONCURRENCY)


def measure(places: Places, workers: int, runs: int) -> Line:
    """Return the steps per second of `workers` processes."""
    url = places.plain_url()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLE)
        asyncio.run(Engine(url).prepare(runs))
        connection.execute("VACUUM ANALYZE")
    with Children(
        workers, ["tests.bench.child", __name__, url], places.new_folder(), None
    ) as children:
        children.wait_until_ready()
        children.go()
        speed = Progress(url, runs * STEPS_A_RUN).speed(children)
    places.forget(url)
    named = f"{workers} process" + ("es" if workers > 1 else "")
    return line(
        "procrastinate", named, runs, speed,
        concurrency=CONCURRENCY, version=version("procrastinate"),
    )  # fmt: skip


def serve(url: str) -> None:
    """Work in a child process."""
    engine = Engine(url)
    wait_for_go()
    asyncio.run(engine.work())
