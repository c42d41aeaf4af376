"""Automations: the list, and one with its plan."""

from flask import Response, request

from engine.automations import queries
from engine.automations.models import AUTOMATION_STATUSES
from web import auth, htmx
from web.automations import blueprint, showing
from web.automations.blueprint import pages
from web.request import session
from web.tables import Page


@pages.get("")
@auth.requires("automations:read")
def index() -> Response:
    """Show the automations, the newest first."""
    workspace_id = auth.person().workspace_id
    chosen = request.args.get("status", "")
    after = request.args.get("cursor")
    rows, following = queries.page_automations(session(), workspace_id, chosen, after)
    counts = queries.status_counts(session(), workspace_id)
    return htmx.render(
        "automations/list.html",
        automations=showing.lines(session(), workspace_id, rows),
        tally={"all": sum(counts.values()), **counts},
        chosen=chosen if chosen in AUTOMATION_STATUSES else "",
        page=Page(following, first=after is None),
    )


@pages.get("/<public_id>")
@auth.requires("automations:read")
def detail(public_id: str) -> Response:
    """Show one automation: its plan, who stands where, and the buttons the role may press."""
    return blueprint.show(blueprint.found(public_id))
