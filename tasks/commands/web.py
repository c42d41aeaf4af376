"""`stellwerk web`: the web server alone."""

import os
import sys

import click

from tasks.commands.opening import host_option, migrated, port_option, reached_at
from tasks.supervisor import require_port, web_command


@click.command()
@host_option
@port_option
def web(host: str, port: int | None) -> None:
    """Serve the console until Ctrl-C or SIGTERM; requests under way are answered first."""
    settings = migrated()
    chosen = port or settings.port
    require_port(host, chosen)
    command = web_command(host, chosen)
    click.echo(f"Stellwerk    {reached_at(settings, chosen)}")
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606 - our own interpreter, no shell wanted
