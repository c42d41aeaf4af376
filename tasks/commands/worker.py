"""`stellwerk worker`: one consumer process."""

import click

from tasks import worker as process
from tasks.commands.opening import migrated
from tasks.queue import NAMES


def _chosen(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise click.BadParameter(f"{value!r}: choose from {','.join(NAMES)}")
    return names


@click.command()
@click.option(
    "--queues",
    default=",".join(NAMES),
    show_default=True,
    callback=_chosen,
    help="Which queues to serve; the timetable goes with engine.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=None,
    help="Task threads per queue; STELLWERK_WORKERS when left out.",
)
@click.option("--tied", is_flag=True, hidden=True, help="End when the parent process is gone.")
def worker(queues: tuple[str, ...], workers: int | None, tied: bool) -> None:
    """Serve the queues until Ctrl-C or SIGTERM; tasks under way are ended first."""
    settings = migrated()
    process.run(settings, queues, workers, tied=tied)
