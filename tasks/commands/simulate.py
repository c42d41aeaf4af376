"""`stellwerk simulate`: a contact's way through a draft, on a virtual clock; nothing is sent."""

import json
from typing import Any

import click

from engine.audience import queries as audience
from engine.automations.queries import trials
from engine.automations.queries.trials import Tried, Wanted
from engine.automations.simulating import SimulatedVisit
from engine.core import clock
from engine.core.boot import Runtime
from engine.core.db import scope
from engine.core.outcome import Refused, missing
from engine.delivery.links import Links
from tasks.commands.frame import installation, refuse


@click.command()
@click.argument("automation")
@click.option("--contact", required=True, help="Id, e-mail address or number of the contact.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def simulate(automation: str, contact: str, as_json: bool) -> None:
    """Walk a contact through the draft of AUTOMATION (its id) without any effect."""
    with installation() as runtime:
        tried = _try(runtime, automation, contact)
    if isinstance(tried, Refused):
        refuse(tried)
    way = tried.simulation
    if as_json:
        steps = [_step(visit) for visit in way.visits]
        total = way.total.total_seconds()
        click.echo(json.dumps({"path": steps, "ended": way.ended, "total_seconds": total}))
        return
    for visit in way.visits:
        click.echo(_line(visit))
    click.echo(f"{way.ended} after {way.total}")


def _try(runtime: Runtime, automation: str, contact: str) -> Tried | Refused:
    links = Links(runtime.settings.base_url, runtime.secret_key)
    with runtime.uow.read() as session:
        workspace_id = trials.home_of(session, automation)
        if workspace_id is None:
            return missing("automation_not_found")
        scope(session, workspace_id)
        person = audience.find_person(session, workspace_id, contact)
        if person is None:
            return missing("contact_not_found")
        wanted = Wanted(clock.now(), person.public_id)
        return trials.try_out(session, workspace_id, automation, wanted, links)


def _step(visit: SimulatedVisit) -> dict[str, Any]:
    mail, error = visit.mail, visit.error
    return {
        "step": visit.key,
        "type": visit.type,
        "arrives_at": visit.arrives.isoformat(),
        "leaves_at": visit.leaves.isoformat(),
        "branch": visit.branch,
        "result": visit.result,
        "reason": visit.reason,
        "mail": None if mail is None else {"to": mail.to, "subject": mail.subject},
        "error": None if error is None else {"code": error.code, "message": error.message},
    }


def _line(visit: SimulatedVisit) -> str:
    said = [visit.arrives.isoformat(timespec="seconds"), visit.key, visit.type]
    if visit.branch:
        said.append(f"-> {visit.branch}")
    if visit.mail is not None:
        said.append(f"to {visit.mail.to}: {visit.mail.subject}")
    if visit.reason:
        said.append(f"withheld: {visit.reason}")
    if visit.error is not None:
        said.append(f"fails: {visit.error.message}")
    return "  ".join(said)
