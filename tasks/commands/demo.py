"""`stellwerk demo`: the sample content of a workspace, loaded and removed."""

import click

from engine import demo as sample
from engine.core import clock
from engine.core.outcome import Refused
from tasks.commands import places
from tasks.commands.opening import migrated, opened
from tasks.commands.words import sentence


@click.group()
def demo() -> None:
    """Sample content: three automations with people moving in them."""


@demo.command()
@places.workspace_option
def load(workspace: str | None) -> None:
    """Load the sample content. Mail to its people goes wherever mail goes here."""
    with opened(migrated()) as house, house.runtime.uow.begin() as session:
        place = places.workspace(session, workspace)
        done = sample.load(session, place.id, clock.now())
    if isinstance(done, Refused):
        click.echo(sentence(done))
        return
    click.echo(f"{place.name}: {done.contacts} people and {done.automations} automations loaded.")


@demo.command()
@places.workspace_option
def remove(workspace: str | None) -> None:
    """Take away exactly what `demo load` made."""
    with opened(migrated()) as house, house.runtime.uow.begin() as session:
        place = places.workspace(session, workspace)
        done = sample.remove(session, place.id, clock.now())
    click.echo(f"{place.name}: {done.contacts} people and {done.automations} automations removed.")
