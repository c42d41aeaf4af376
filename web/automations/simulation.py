"""Simulate: one person through the draft, as a page; reads only (architecture 6, check 20)."""

from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, make_response, request, url_for
from flask_babel import gettext as _
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from engine.audience import queries as audience
from engine.automations import service
from engine.automations.document import Document
from engine.automations.models import Automation
from engine.automations.queries import trials
from engine.automations.queries.trials import Tried
from engine.automations.simulating import trigger_data
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import reading, simulated, track, trying
from web.automations.blueprint import pages
from web.automations.reading import Told
from web.automations.trying import Asked
from web.links.making import links
from web.request import now, session
from web.sends.views import MAIL_POLICY

# Topics offered for a person made up; who needs another one uses the API.
_TOPICS: Final = 50


@pages.get("/<public_id>/simulate")
@auth.requires("automations:read")
def simulate(public_id: str) -> Response:
    """Show the way of a person through the draft; nothing is written and nothing is sent."""
    row = _found(public_id)
    asked, tried = _tried(row)
    workspace_id = auth.person().workspace_id
    content = tried.content if tried else service.draft_document(session(), row)
    told = reading.tell(session(), workspace_id, content)
    return htmx.render(
        "automations/simulate.html",
        "automations/_simulation.html",
        status=errors.FORM_REFUSED if asked.wrong else 200,
        automation=row,
        asked=asked,
        built_in=_built_in(),
        choices=simulated.choices(told, asked.choices) if told else (),
        takes_event=told is not None and _takes_event(told.document),
        readable=told is not None,
        way=_way(told, tried) if told and tried else None,
        mail_address=partial(_mail_address, row.public_id),
        **(_offered(session(), workspace_id) if asked.made_up else {}),
    )


@pages.get("/<public_id>/simulate/mail")
@auth.requires("automations:read")
def simulated_mail(public_id: str) -> Response:
    """Show nothing but the HTML of one simulated mail, shut in by a policy of its own.

    The address repeats the question of the page; `visit` counts the stations from 0.
    """
    _asked, tried = _tried(_found(public_id))
    number = request.args.get("visit", "")
    visits = tried.simulation.visits if tried else ()
    visit = visits[int(number)] if number in {str(each) for each in range(len(visits))} else None
    if visit is None or visit.mail is None:
        raise NotFound
    answer = make_response(visit.mail.html)
    answer.headers["Content-Security-Policy"] = MAIL_POLICY
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def _found(public_id: str) -> Automation:
    row = service.find(session(), auth.person().workspace_id, public_id)
    if row is None:
        raise NotFound
    return row


def _tried(row: Automation) -> tuple[Asked, Tried | None]:
    """Return the question, with what is wrong with it, and the answer where there is one."""
    asked = trying.read(request.args)
    workspace_id = auth.person().workspace_id
    if run_id := request.args.get("run"):
        run = trials.run_input(session(), workspace_id, row.public_id, run_id)
        if run is None:
            raise NotFound
        asked = trying.of_run(asked, run)
    if not asked.sent:
        return asked, None
    wanted = trying.wanted(session(), workspace_id, asked, now())
    if isinstance(wanted, Asked):
        return wanted, None
    tried = trials.try_out(session(), workspace_id, row.public_id, wanted, links())
    if isinstance(tried, Refused):
        errors.abort_if_missing(tried)
        return trying.refused(asked, tried), None
    return asked, tried


def _way(told: Told, tried: Tried) -> dict[str, Any]:
    found = tried.simulation
    fields = tried.who.sketch.fields
    named = " ".join(part for part in (fields["first_name"], fields["last_name"]) if part)
    return {
        "person": named or tried.who.address or fields["external_id"] or str(_("somebody")),
        "person_id": tried.who.public_id,
        "begins": found.visits[0].arrives if found.visits else now(),
        "lines": simulated.lines(told, found),
        "ended": simulated.ended(found),
        "finished": found.ended == "finished",
        "total": found.total,
        "rows": track.stations(told, way=simulated.way(told, found)),
        "path": simulated.path(told, found),
    }


def _mail_address(public_id: str, number: int) -> str:
    """Return where the HTML of a simulated mail is: the same question, and which station."""
    kept = [(name, value) for name, value in request.args.items(multi=True) if name != "visit"]
    query = urlencode([*kept, ("visit", str(number))])
    return f"{url_for('automations.simulated_mail', public_id=public_id)}?{query}"


def _takes_event(document: Document) -> bool:
    """Whether the events that start it may bear properties."""
    return "event_properties" in trigger_data(document, {}, now())


def _built_in() -> list[tuple[str, str]]:
    return [
        ("first_name", str(_("First name"))),
        ("last_name", str(_("Last name"))),
        ("email", str(_("E-mail address"))),
        ("external_id", str(_("Number"))),
        ("language", str(_("Language"))),
        ("timezone", str(_("Time zone"))),
    ]


def _offered(opened: Session, workspace_id: int) -> dict[str, Any]:
    """Return what a person made up may have: properties and topics."""
    properties, _more = audience.list_properties(opened, workspace_id)
    topics, _rest = audience.page_topics(opened, workspace_id, limit=_TOPICS)
    return {"properties": properties, "topics": topics}
