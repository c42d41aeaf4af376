"""Why, or why not: one person and one automation, as a page (check 39)."""

from typing import Any

from flask import Response, request, url_for
from werkzeug.exceptions import NotFound

from engine.audience import queries as audience
from engine.automations.queries import entry_checks
from engine.automations.queries.explaining import Explanation, explain
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import reasons
from web.automations.blueprint import pages
from web.people import messages
from web.request import now, session


@pages.get("/<public_id>/why")
@auth.requires("automations:read")
def why(public_id: str) -> Response:
    """Ask for a person and show what kept them out of the automation, or let them in."""
    name = entry_checks.name_of(session(), auth.person().workspace_id, public_id)
    if name is None:
        raise NotFound
    text = request.args.get("contact", "").strip()
    person = _person(text) if text else None
    found = None if person is None else _explained(public_id, person)
    wrong = messages.words(Refused("contact_not_found")) if text and person is None else ""
    return htmx.render(
        "automations/why.html",
        status=errors.FORM_REFUSED if wrong else 200,
        automation={"public_id": public_id, "name": name},
        contact=text,
        wrong=wrong,
        person=person,
        **answer(found),
    )


def answer(found: Explanation | None) -> dict[str, Any]:
    """Return what the templates show of an explanation; nothing where nothing was asked."""
    if found is None:
        return {"why": None}
    link = url_for("runs.detail", public_id=found.params["run"]) if "run" in found.params else ""
    return {
        "why": {
            "answer": reasons.answer(found),
            "tone": reasons.tone(found),
            "recorded": found.recorded,
            "run": link,
            "checks": reasons.checks(found),
            "decisions": reasons.decisions(found),
            "past": found.past,
            "event": found.event,
        }
    }


def _person(text: str) -> audience.ContactRow | None:
    workspace_id = auth.person().workspace_id
    return audience.get_contact(session(), workspace_id, text) or audience.find_person(
        session(), workspace_id, text
    )


def _explained(public_id: str, person: audience.ContactRow) -> Explanation:
    found = explain(session(), auth.person().workspace_id, public_id, person.public_id, now())
    if found is None:
        raise NotFound
    return found
