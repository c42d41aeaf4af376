"""`stellwerk up`: web and worker in one foreground process group; furnishes the first start."""

import gc
import secrets
import sys
from typing import Final

import click
from sqlalchemy.orm import Session

from engine import demo as sample
from engine.accounts import queries as accounts
from engine.accounts.service import SetUp
from engine.core import clock
from engine.core.outcome import Refused
from engine.house import House
from tasks.commands.frame import refuse
from tasks.commands.opening import host_option, migrated, opened, port_option, reached_at
from tasks.commands.setup import compose
from tasks.supervisor import Supervisor, require_port, web_command, worker_command

WORKSPACE: Final = "Stellwerk demo"
OWNER: Final = "owner@stellwerk.example"
_NO_DEMO_MAIL: Final = (
    "No sample content, because STELLWERK_SMTP_URL is set and its people would get mail. "
    "Load it with `stellwerk demo load`."
)


@click.command()
@host_option
@port_option
@click.option(
    "--demo/--no-demo",
    default=False,
    show_default=True,
    help="On the very first start, make an owner and sample content.",
)
def up(host: str, port: int | None, demo: bool) -> None:
    """Start the console and a worker; Ctrl-C stops both once work under way is done."""
    settings = migrated()
    chosen = port or settings.port
    require_port(host, chosen)
    address = reached_at(settings, chosen)
    with opened(settings) as house:
        lines = _first_start(house) if demo else []
        known = _known(house)
    for line in _greeting(address, lines, known):
        click.echo(line)
    sys.stdout.flush()
    code = Supervisor(
        [("web server", web_command(host, chosen, tied=True)), ("worker", worker_command())]
    ).run()
    click.echo("Stellwerk has stopped.")
    # No last search for garbage in all that ends now: the prompt would come back a second later.
    gc.freeze()
    sys.exit(code)


def _known(house: House) -> bool:
    with house.runtime.uow.read() as session:
        return bool(accounts.find_workspaces(session, None))


def _first_start(house: House) -> list[str]:
    """Make owner and sample content where nobody is yet; return what to tell the newcomer."""
    with house.runtime.uow.begin() as session:
        if accounts.find_workspaces(session, None):
            return []
        return _furnish(session, with_people=house.runtime.settings.smtp_url is None)


def _furnish(session: Session, *, with_people: bool) -> list[str]:
    password = secrets.token_urlsafe(12)
    done = compose(session, SetUp(OWNER, password, WORKSPACE, None))
    if isinstance(done, Refused):
        refuse(done)
    lines = [f"Sign in as   {OWNER}", f"Password     {password}   (shown this once)"]
    if not with_people:
        return [*lines, _NO_DEMO_MAIL]
    loaded = sample.load(session, done.workspace_id, clock.now())
    if isinstance(loaded, Refused):
        refuse(loaded)
    return [
        *lines,
        f"Loaded       {loaded.automations} automations with {loaded.contacts} people in them "
        "(`.venv/bin/stellwerk demo remove` takes them away)",
    ]


def _greeting(address: str, first: list[str], known: bool) -> list[str]:
    lines = [f"Stellwerk    {address}", *first]
    if not known:
        lines.append("Nobody can sign in yet: run `stellwerk setup --help`, or start with --demo.")
    if first:
        lines += [
            "Try next     open Runs, reload and see people move; open one and read its log;",
            "             then send an event of your own with the curl of the README.",
        ]
    return [*lines, "Ctrl-C stops everything."]
