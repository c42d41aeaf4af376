"""DBOS on PostgreSQL: a queued workflow of four steps, each writing its effect."""

from importlib.metadata import version
from typing import Any, Final

import psycopg
from dbos import DBOS, DBOSClient
from psycopg_pool import ConnectionPool

from tests.bench.children import Children, pause, wait_for_go
from tests.bench.lines import Line
from tests.bench.peers.effects import STEPS_A_RUN, TABLE, Progress, line
from tests.bench.places import Places

CONCURRENCY: Final = 50
POLL_S: Final = 0.1
_QUEUE: Final = "runs"
_WORKFLOW: Final = "walk"


def launch(url: str) -> None:
    """Start DBOS in this process; it makes its tables."""
    config: Any = {
        "name": "bench",
        "system_database_url": url,
        "sys_db_pool_size": 20,
        "log_level": "ERROR",
        "application_version": "1",
    }
    DBOS(config=config)
    DBOS.launch()
    DBOS.register_queue(_QUEUE, worker_concurrency=CONCURRENCY, polling_interval_sec=POLL_S)


def work(url: str) -> None:
    """Serve the queue for ever."""
    effects: Any = ConnectionPool(
        url.replace("+psycopg", ""), min_size=4, max_size=20, open=True, kwargs={"autocommit": True}
    )

    def take_step(run_id: int, place: int) -> None:
        with effects.connection() as connection:
            connection.execute("INSERT INTO effect VALUES (%s, %s)", (run_id, place))

    step: Any = DBOS.step()(take_step)

    def walk(run_id: int) -> None:
        for place in range(STEPS_A_RUN):
            step(run_id, place)

    DBOS.workflow(name=_WORKFLOW)(walk)
    launch(url)
    while True:
        pause(1)


def measure(places: Places, workers: int, runs: int) -> Line:
    """Return the steps per second of `workers` processes."""
    url = places.plain_url()
    address = url.replace("postgresql://", "postgresql+psycopg://")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLE)
    launch(address)
    DBOS.destroy()
    client: Any = DBOSClient(system_database_url=address)
    options: Any = {
        "queue_name": _QUEUE,
        "workflow_name": _WORKFLOW,
        "app_version": "1",
        "application_name": "bench",
    }
    for run_id in range(runs):
        client.enqueue(options, run_id)
    client.destroy()
    with Children(
        workers, ["tests.bench.child", __name__, address], places.new_folder(), None
    ) as children:
        children.wait_until_ready()
        children.go()
        speed = Progress(url, runs * STEPS_A_RUN).speed(children)
    places.forget(url)
    named = f"{workers} process" + ("es" if workers > 1 else "")
    return line("dbos", named, runs, speed, concurrency=CONCURRENCY, version=version("dbos"))


def serve(url: str) -> None:
    """Work in a child process."""
    wait_for_go()
    work(url)
