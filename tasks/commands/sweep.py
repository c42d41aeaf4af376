"""`stellwerk sweep`: one periodic job now, in this process, until nothing is due."""

import json
from collections.abc import Mapping
from typing import Final

import click

from engine.house import House
from tasks.commands.opening import migrated, opened

# Every name of the public face; those without a sweep in the house are not built yet.
KNOWN: Final = (
    "steps", "sends", "scans", "campaigns-due", "campaigns-sending", "send-jobs", "ab-winners",
    "agent-retries", "agent-stuck", "agent-replies", "agent-health", "segments", "confirmations",
    "imports", "webhooks", "dates", "outbox", "imap", "rollup", "retention", "purge",
    "run-jobs",
)  # fmt: skip


@click.command()
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Run every sweep once.")
def sweep(name: str | None, everything: bool) -> None:
    """Run the periodic job NAME now, whatever its timetable, and print what it did as JSON.

    \b
    steps      due, stale and lapsed step runs
    sends      queued mails without a hint, lapsed leases
    run-jobs   acts on many runs that wait to go on
    outbox     product events that wait
    dates      people whose date has come
    rollup     the figures of automations
    retention  forgets what is older than its workspace keeps it
    purge      removes people who were deleted long ago
    """
    if (name is None) is not everything:
        raise click.UsageError("name one sweep, or say --all")
    settings = migrated()
    with opened(settings) as house:
        names = tuple(house.sweeps) if name is None else (_checked(name, house),)
        done = {each: dict(house.sweeps[each]()) for each in names}
    click.echo(json.dumps(done if name is None else done[name]))


def _checked(name: str, house: House) -> str:
    if name in house.sweeps:
        return name
    word = "is not built yet" if name in KNOWN else "is no sweep"
    raise click.ClickException(f"{name} {word}. Choose one of: {', '.join(_names(house.sweeps))}")


def _names(sweeps: Mapping[str, object]) -> list[str]:
    return sorted(sweeps)
