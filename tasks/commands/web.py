"""`stellwerk web`: the web server alone."""

import os
import sys

import click

from tasks.commands.opening import migrated, reached_at
from tasks.supervisor import require_port, web_command


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=None,
    help="Port to listen on; STELLWERK_PORT when left out.",
)
def web(host: str, port: int | None) -> None:
    """Serve the console until Ctrl-C or SIGTERM; requests under way are answered first."""
    settings = migrated()
    chosen = port or settings.port
    require_port(host, chosen)
    command = web_command(host, chosen)
    click.echo(f"Stellwerk    {reached_at(settings, chosen)}")
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606 - our own interpreter, no shell wanted
