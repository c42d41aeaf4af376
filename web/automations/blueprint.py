"""The blueprint of automations, and what its modules share: find one, show its page."""

from flask import Blueprint, Response
from werkzeug.exceptions import NotFound

from engine.automations import queries
from engine.automations.queries import AutomationDetail
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import showing
from web.request import now, session

pages = Blueprint("automations", __name__, url_prefix="/automations")


def found(public_id: str) -> AutomationDetail:
    """Return the automation of the person's workspace; anything else is a page not found."""
    automation = queries.get_automation(session(), auth.person().workspace_id, public_id)
    if automation is None:
        raise NotFound
    return automation


def show(automation: AutomationDetail, refused: Refused | None = None) -> Response:
    """Return its page; refused: with what was refused, and the status that says so."""
    context = showing.page(session(), auth.person().workspace_id, automation, now())
    if refused is not None:
        context |= showing.refusal(automation, refused)
    return htmx.render(
        "automations/detail.html",
        status=200 if refused is None else errors.status_of(refused),
        may_publish=auth.may("automations:publish"),
        **context,
    )
