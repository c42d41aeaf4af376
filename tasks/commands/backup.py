"""`stellwerk backup`: the whole installation in one file, while everything runs."""

from pathlib import Path

import click

from tasks.backup.making import make
from tasks.commands.frame import installation

SHOWN = ("workspaces", "contacts", "automations", "automation_runs", "email_sends")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def backup(file: Path) -> None:
    """Write everything that cannot be made again to FILE: one instant of the database, the secret
    key, the settings file, the outbox.

    FILE holds people's data and secrets; it is readable for you alone and must not exist yet.
    """
    with installation() as runtime:
        made = make(runtime, file)
    manifest = made.manifest
    counts = ", ".join(f"{manifest.rows.get(name, 0)} {name}" for name in SHOWN)
    click.echo(
        f"{file}: {made.size} bytes; {manifest.database} at schema {manifest.revision}, "
        f"{manifest.created_at:%Y-%m-%d %H:%M:%S} UTC; {counts}; {made.letters} letters."
    )
