"""`stellwerk demo`: the sample content of a workspace, loaded and removed."""

from collections.abc import Sequence

import click
from sqlalchemy.orm import Session

from engine import demo as sample
from engine.accounts import queries
from engine.accounts.queries import WorkspaceLine
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
    """Take away exactly what `demo load` made; without --workspace wherever it lies."""
    with opened(migrated()) as house, house.runtime.uow.begin() as session:
        lines = [_removed(session, place) for place in _holders(session, workspace)]
    for line in lines or ["There is no sample content in any workspace."]:
        click.echo(line)


def _holders(session: Session, workspace: str | None) -> Sequence[WorkspaceLine]:
    """Return the workspace that was named, or all that hold sample content."""
    if workspace is not None:
        return [places.workspace(session, workspace)]
    every = queries.find_workspaces(session, None)
    if len(every) <= 1:
        return [places.workspace(session, None)]
    return [place for place in every if sample.standing(session, place.id)]


def _removed(session: Session, place: WorkspaceLine) -> str:
    done = sample.remove(session, place.id, clock.now())
    return f"{place.name}: {done.contacts} people and {done.automations} automations removed."
