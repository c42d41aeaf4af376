"""`stellwerk db`: bring the schema up to date, or say whether it fits."""

import click

import engine.house
from migrations import run
from tasks.commands.frame import installation


@click.group()
def db() -> None:
    """The database's schema."""


@db.command()
def upgrade() -> None:
    """Bring the schema to what this program needs; harmless when it is there already."""
    with installation(migrate=True):
        click.echo("The schema is up to date.")


@db.command()
def check() -> None:
    """Say whether the schema fits this program; code 1 when it does not."""
    with installation() as runtime:
        differences = run.check(runtime.database.engine)
    if differences:
        raise click.ClickException("; ".join(differences))
    click.echo(f"The schema fits this program ({len(engine.house.ROWS)} groups of tables).")
