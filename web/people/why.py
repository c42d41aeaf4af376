"""Why, or why not, from the person's side: choose the automation (check 39)."""

from flask import Response, request
from werkzeug.exceptions import NotFound

from engine.automations import queries as automations
from engine.automations.queries.explaining import explain
from web import auth, htmx
from web.automations import why as answering
from web.people.blueprint import found, pages
from web.request import now, session


@pages.get("/<public_id>/why")
@auth.requires("contacts:read")
def why(public_id: str) -> Response:
    """Ask for an automation and show what kept this person out, or let them in."""
    person, workspace_id = found(public_id), auth.person().workspace_id
    asked = request.args.get("automation", "")
    offered, _following = automations.page_automations(session(), workspace_id, limit=200)
    told = explain(session(), workspace_id, asked, public_id, now()) if asked else None
    if asked and told is None:
        raise NotFound
    return htmx.render(
        "people/why.html",
        person=person,
        automations=offered,
        asked=asked,
        gone=told.automation_name if told and told.deleted else "",
        **answering.answer(told),
    )
