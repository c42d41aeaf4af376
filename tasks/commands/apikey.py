"""`stellwerk apikey`: keys for programs, for the operator of the installation."""

import json
from typing import Final

import click

from engine.accounts import queries, service
from engine.accounts.permissions import FULL, OFFERED
from engine.core import clock
from engine.core.outcome import Recorded, Refused
from tasks.commands import places
from tasks.commands.frame import installation, refuse
from tasks.commands.places import OPERATOR, workspace_option

# One page is the whole list: nobody keeps more keys than this.
_MOST: Final = 1000
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def apikey() -> None:
    """Keys for programs: create, list, revoke."""


@apikey.command()
@click.option("--name", required=True, help="What the key is for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    default=[FULL],
    show_default=True,
    help=f"What it may do; repeat for several. One of: {', '.join(OFFERED)}.",
)
@workspace_option
@_json
def create(name: str, scopes: tuple[str, ...], workspace: str | None, as_json: bool) -> None:
    """Create a key and print it, this once."""
    with installation() as runtime, runtime.uow.begin() as session:
        place = places.workspace(session, workspace)
        made = service.create_key(session, place.id, name, scopes, OPERATOR, clock.now())
        if isinstance(made, Refused):
            refuse(made)
    if as_json:
        click.echo(json.dumps({"id": made.public_id, "name": made.name, "key": made.secret}))
    else:
        click.echo(made.secret)


@apikey.command(name="list")
@workspace_option
@_json
def list_(workspace: str | None, as_json: bool) -> None:
    """List the keys of a workspace; of a key only its beginning is known."""
    with installation() as runtime, runtime.uow.read() as session:
        lines, _more = queries.list_keys(
            session, places.workspace(session, workspace).id, limit=_MOST
        )
    keys = [
        {
            "id": line.public_id,
            "name": line.name,
            "prefix": line.prefix,
            "scopes": list(line.scopes),
            "last_used_at": line.last_used_at.isoformat() if line.last_used_at else None,
            "revoked": line.revoked_at is not None,
        }
        for line in lines
    ]
    if as_json:
        click.echo(json.dumps(keys))
        return
    for key, line in zip(keys, lines, strict=True):
        state = "revoked" if line.revoked_at else "active"
        used = key["last_used_at"] or "never"
        click.echo(f"{line.public_id}  {line.prefix}…  {state}  last used {used}  {line.name}")


@apikey.command()
@click.argument("key_id", metavar="ID")
@workspace_option
def revoke(key_id: str, workspace: str | None) -> None:
    """Revoke the key with this ID for good."""
    with installation() as runtime, runtime.uow.begin() as session:
        place = places.workspace(session, workspace)
        done = service.revoke_key(session, place.id, key_id, OPERATOR, clock.now())
        if isinstance(done, Refused):
            refuse(done)
    click.echo("Revoked already." if isinstance(done, Recorded) else "Revoked.")
