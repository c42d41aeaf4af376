"""What needs attention: one line for any number of runs that failed alike, and who is held."""

from flask import Blueprint, Response

from engine.automations import queries
from engine.automations.queries.attention import holding
from web import auth, htmx
from web.attention import listing
from web.request import session

pages = Blueprint("attention", __name__, url_prefix="/attention")


@pages.get("")
@auth.requires("runs:read")
def index() -> Response:
    """Show the causes, the newest failure first, and whom paused automations hold."""
    workspace_id = auth.person().workspace_id
    found = queries.causes(session(), workspace_id)
    return htmx.render(
        "attention/list.html",
        lines=listing.lines(session(), workspace_id, found),
        holding=holding(session(), workspace_id),
    )
