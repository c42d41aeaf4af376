"""An open page of a run follows: what changed since it was shown, asked every few seconds."""

from flask import Response, make_response, render_template, request, url_for
from werkzeug.exceptions import NotFound

from engine.automations import queries
from web import auth, htmx
from web.request import now, session
from web.runs import blueprint, showing
from web.runs.blueprint import pages


@pages.get("/<public_id>/live")
@auth.requires("runs:read")
def live(public_id: str) -> Response:
    """Answer 204 while nothing changed, else with the parts of the page that tell of the run."""
    workspace_id = auth.person().workspace_id
    mark = queries.run_mark(session(), workspace_id, public_id)
    if mark is None:
        raise NotFound
    if not htmx.wants_fragment():
        return htmx.see_other(url_for("runs.detail", public_id=public_id))
    if request.args.get("seen") == mark:
        return make_response("", 204)
    found = blueprint.found(public_id)
    context = showing.page(session(), workspace_id, found, now())
    return make_response(render_template("runs/_live.html", **context))
