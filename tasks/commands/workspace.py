"""`stellwerk workspace`: the operator stops a workspace and lets it go on."""

import click

from engine.accounts import service
from engine.core import clock
from engine.core.outcome import Recorded
from tasks.commands import places
from tasks.commands.frame import installation
from tasks.commands.places import OPERATOR, workspace_option


@click.group()
def workspace() -> None:
    """Workspaces: suspend, resume."""


@workspace.command()
@workspace_option
def suspend(workspace: str | None) -> None:
    """Stop a workspace: its due steps and queued mails are held back. People may still sign in."""
    with installation() as runtime, runtime.uow.begin() as session:
        place = places.workspace(session, workspace)
        done = service.suspend(session, place.id, OPERATOR, clock.now())
    already = " already" if isinstance(done, Recorded) else ""
    click.echo(f"{place.name} is suspended{already}.")


@workspace.command()
@workspace_option
def resume(workspace: str | None) -> None:
    """Let a suspended workspace go on; what became due meanwhile is due now."""
    with installation() as runtime, runtime.uow.begin() as session:
        place = places.workspace(session, workspace)
        done = service.resume(session, place.id, OPERATOR, clock.now())
    already = " already" if isinstance(done, Recorded) else ""
    click.echo(f"{place.name} goes on{already}.")
