"""The blueprint of runs, and what its modules share: find one."""

from flask import Blueprint
from werkzeug.exceptions import NotFound

from engine.automations import queries
from engine.automations.queries import RunDetail
from web import auth
from web.request import session

pages = Blueprint("runs", __name__, url_prefix="/runs")


def found(public_id: str) -> RunDetail:
    """Return a run of the person's workspace; anything else is a page not found."""
    run = queries.get_run(session(), auth.person().workspace_id, public_id)
    if run is None:
        raise NotFound
    return run
