"""The buttons that switch an automation: activate, pause, resume, stop, a draft again."""

from typing import Final

from flask import Response, flash, request, url_for
from flask_babel import gettext
from werkzeug.exceptions import BadRequest

from engine.automations import holding, service
from engine.automations.models import ACTIVE, DRAFT, PAUSED
from engine.automations.queries import AutomationDetail
from engine.automations.service import StatusChange, Wish
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import blueprint, messages, switched
from web.automations.blueprint import pages
from web.request import now, session

# Nothing is wrong with the document: the sentence says it all, so no list of findings is shown.
_PLAIN: Final = frozenset({"lost_race", "illegal_edge", "people_inside"})
SURE: Final = "sure"


@pages.post("/<public_id>/activate")
@auth.requires("automations:publish")
def activate(public_id: str) -> Response:
    """Put the draft in force."""
    return _switch(public_id, Wish(ACTIVE), DRAFT)


@pages.post("/<public_id>/pause")
@auth.requires("automations:publish")
def pause(public_id: str) -> Response:
    """Stop it: nobody enters; whoever is inside leaves or is held at the next step (A11)."""
    return _switch(public_id, Wish(PAUSED), ACTIVE)


@pages.post("/<public_id>/resume")
@auth.requires("automations:publish")
def resume(public_id: str) -> Response:
    """Let people enter again, with the revision that was in force; held ones go on as chosen."""
    choice = request.form.get("resume") or None
    if choice is not None and choice not in holding.CHOICES:
        raise BadRequest
    wish = Wish(ACTIVE, resume=choice, start_afresh="start_afresh" in request.form)
    return _switch(public_id, wish, PAUSED)


@pages.post("/<public_id>/stop")
@auth.requires("automations:publish")
def stop(public_id: str) -> Response:
    """Pause it and end everybody inside; only after a second confirmation (check 26)."""
    found = blueprint.found(public_id)
    if SURE not in request.form:
        return ask_again(public_id, "stop")
    return _apply(found, Wish(PAUSED, cancel_inside=True), ACTIVE)


@pages.post("/<public_id>/revert")
@auth.requires("automations:publish")
def revert(public_id: str) -> Response:
    """Make it a draft again, once nobody is inside any more."""
    return _switch(public_id, Wish(DRAFT), PAUSED)


def ask_again(public_id: str, ask: str) -> Response:
    """Show the dialog once more whose second confirmation was not given."""
    flash(gettext("Nothing was changed: the box in the dialog was not ticked."), "hold")
    return htmx.see_other(url_for("automations.detail", public_id=public_id, ask=ask))


def _switch(public_id: str, wish: Wish, expected: str) -> Response:
    return _apply(blueprint.found(public_id), wish, expected)


def _apply(found: AutomationDetail, wish: Wish, expected: str) -> Response:
    """Ask for a status; only from the one that the pressed dialog spoke of, or from `to` itself."""
    workspace_id, public_id = auth.person().workspace_id, found.row.public_id
    answer: StatusChange | Refused = Refused("illegal_edge")
    if found.row.status in {expected, wish.to}:
        answer = service.change_status(
            session(), workspace_id, public_id, wish, auth.actor(), now()
        )
    if isinstance(answer, Refused):
        errors.abort_if_missing(answer)
        if answer.reason not in _PLAIN:
            return blueprint.show(found, answer)
        said, changed = messages.reason(answer), answer.reason == "people_inside"
    else:
        said, changed = switched.done(answer, found.row.name, stop=wish.cancel_inside)
    if changed and not isinstance(answer, Refused):
        flash(said)
    else:
        # Somebody was faster, be it this person in another tab: who, and when.
        by = "" if changed else switched.last(session(), workspace_id, public_id)
        flash(f"{said} {by}".strip(), "hold")
    return htmx.see_other(url_for("automations.detail", public_id=public_id))
