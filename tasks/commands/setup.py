"""`stellwerk setup`: owner, workspace, default sender and key, in one transaction.

Composes accounts and delivery, which do not know each other; harmless to repeat.
"""

import json
from typing import Final

import click
from sqlalchemy.orm import Session

from engine.accounts import service as accounts
from engine.accounts.passwords import MIN_LENGTH
from engine.accounts.service import SetUp, SetUpDone
from engine.core import audit, clock
from engine.core.outcome import Refused
from engine.delivery import service as delivery
from engine.delivery.service import SenderInput
from tasks.commands.frame import installation, read_secret, refuse

WORKSPACE: Final = "Stellwerk"
ACTOR: Final = audit.system("setup")


@click.command()
@click.option("--email", required=True, help="The owner's address; also the default sender.")
@click.option(
    "--password-stdin", "asked", is_flag=True, help="Read the password as one line from stdin."
)
@click.option("--workspace", default=WORKSPACE, show_default=True, help="Name of the workspace.")
@click.option("--api-key", help="Also make a full-scope API key with this value (24+ characters).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def setup(email: str, asked: bool, workspace: str, api_key: str | None, as_json: bool) -> None:
    """Create an owner and a workspace; what is there already stays as it is."""
    password = read_secret("the owner's password", asked=asked)
    with installation(migrate=True) as runtime:
        with runtime.uow.begin() as session:
            done = compose(session, SetUp(email, password, workspace, api_key))
            if isinstance(done, Refused):
                refuse(done)  # raises, so nothing of it stays
        click.echo(_as_json(done) if as_json else _as_text(done, runtime.settings.base_url))
    if done.created_user and len(password) < MIN_LENGTH:
        click.echo(
            f"stellwerk: note: the password is short; {MIN_LENGTH} characters are better.", err=True
        )


def compose(session: Session, asked: SetUp) -> SetUpDone | Refused:
    """Do all of it in the caller's transaction; to be rolled back when it is refused."""
    at = clock.now()
    done = accounts.set_up(session, asked, at)
    if isinstance(done, Refused):
        return done
    # The first sender of a workspace is its default; a repetition leaves a later choice alone.
    sender = SenderInput(done.email, done.workspace_name)
    for made in (
        delivery.attest_domain(session, done.workspace_id, done.domain, ACTOR, at),
        delivery.create_sender(session, done.workspace_id, sender, ACTOR, at),
    ):
        if isinstance(made, Refused):
            return made
    return done


def _as_json(done: SetUpDone) -> str:
    key = {"id": done.key_public_id} if done.key_public_id else None
    return json.dumps(
        {
            "workspace": {"id": done.workspace_public_id, "name": done.workspace_name},
            "user": {"id": done.user_public_id, "email": done.email, "role": "owner"},
            "api_key": key,
            "created": done.created_workspace,
        }
    )


def _as_text(done: SetUpDone, address: str) -> str:
    lines = [
        f"Workspace {done.workspace_name} ({done.workspace_public_id}) "
        + ("is ready." if done.created_workspace else "was there already."),
        f"Sign in as {done.email} at {address}",
    ]
    if not done.created_user:
        lines.append(
            "The account was there already and keeps its password; "
            "change it with `stellwerk user password`."
        )
    return "\n".join(lines)


__all__ = ["compose", "setup"]
