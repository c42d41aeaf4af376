"""`stellwerk user`: people and their roles, for the operator of the installation."""

import json

import click

from engine.accounts import queries, service
from engine.accounts.models import ROLES
from engine.accounts.service import NewUser
from engine.core import clock
from engine.core.outcome import Recorded, Refused
from tasks.commands import places
from tasks.commands.frame import installation, read_secret, refuse
from tasks.commands.places import OPERATOR, workspace_option

_email = click.option("--email", required=True, help="The person's address.")
_role = click.option(
    "--role", required=True, type=click.Choice(ROLES), help="What the person may do."
)
_password = click.option(
    "--password-stdin", "asked", is_flag=True, help="Read the password as one line from stdin."
)


@click.group()
def user() -> None:
    """People who sign in: add, list, password, role, end their sessions."""


@user.command()
@_email
@_role
@_password
@click.option("--name", default="", help="The person's name.")
@workspace_option
def add(email: str, role: str, asked: bool, name: str, workspace: str | None) -> None:
    """Add a person to a workspace. An account that exists keeps its password."""
    with installation() as runtime, runtime.uow.begin() as session:
        known = queries.find_user(session, email) is not None
        password = None if known else read_secret("the password", asked=asked)
        place = places.workspace(session, workspace)
        done = service.add_user(
            session, place.id, NewUser(email, role, password, name), OPERATOR, clock.now()
        )
        if isinstance(done, Refused):
            refuse(done)
    click.echo(f"Added {done.email} to {place.name} as {role}.")


@user.command(name="list")
@workspace_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(workspace: str | None, as_json: bool) -> None:
    """List the people of a workspace."""
    with installation() as runtime, runtime.uow.read() as session:
        lines = queries.list_users(session, places.workspace(session, workspace).id)
    if as_json:
        people = [{"id": one.public_id, "email": one.email, "role": one.role} for one in lines]
        click.echo(json.dumps(people))
        return
    for one in lines:
        click.echo(f"{one.public_id}  {one.role:8}{one.email}")


@user.command()
@_email
@_password
def password(email: str, asked: bool) -> None:
    """Set a new password; every session of the person ends."""
    secret = read_secret("the new password", asked=asked)
    with installation() as runtime, runtime.uow.begin() as session:
        person = places.account(session, email)
        ended = service.change_password(session, person, secret, OPERATOR, clock.now())
        if isinstance(ended, Refused):
            refuse(ended)
    click.echo(f"Password changed; {ended} sessions ended.")


@user.command()
@_email
@_role
@workspace_option
def role(email: str, role: str, workspace: str | None) -> None:
    """Give a member another role."""
    with installation() as runtime, runtime.uow.begin() as session:
        place, person = places.workspace(session, workspace), places.account(session, email)
        done = service.change_role(session, place.id, person, role, OPERATOR, clock.now())
        if isinstance(done, Refused):
            refuse(done)
    already = " already" if isinstance(done, Recorded) else ""
    click.echo(f"{email} is {role} of {place.name}{already}.")


@user.command(name="sessions-revoke")
@_email
def sessions_revoke(email: str) -> None:
    """End every session of a person at once."""
    with installation() as runtime, runtime.uow.begin() as session:
        person = places.account(session, email)
        ended = service.revoke_sessions(session, person, clock.now(), OPERATOR)
        if isinstance(ended, Refused):
            refuse(ended)
    click.echo(f"{ended} sessions ended.")
