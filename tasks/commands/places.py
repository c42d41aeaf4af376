"""Finds what a command names: the workspace it works in and the account it means."""

from typing import Final

import click
from sqlalchemy.orm import Session

from engine.accounts import queries
from engine.accounts.queries import WorkspaceLine
from engine.core import audit

# Who acts in the audit log when the operator of the installation does.
OPERATOR: Final = audit.system("cli")
workspace_option = click.option(
    "--workspace", metavar="NAME", help="Name or id of the workspace; not needed with only one."
)


def workspace(session: Session, text: str | None) -> WorkspaceLine:
    """Return the workspace named `text`, or the only one of the installation."""
    found = queries.find_workspaces(session, text)
    if len(found) == 1:
        return found[0]
    if not found:
        remedy = "create one with `stellwerk setup`" if text is None else "check the name"
        raise click.ClickException(f"There is no such workspace; {remedy}.")
    several = ", ".join(f"{line.name} ({line.public_id})" for line in found[:10])
    raise click.ClickException(f"Say which workspace with --workspace NAME or its id: {several}.")


def account(session: Session, email: str) -> str:
    """Return the public id of the account with this address."""
    found = queries.find_user(session, email)
    if found is None:
        raise click.ClickException("There is no account with this address; check the spelling.")
    return found
