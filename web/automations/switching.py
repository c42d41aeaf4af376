"""The buttons that switch an automation: activate, pause, resume."""

from typing import Final

from flask import Response, flash, request, url_for
from werkzeug.exceptions import BadRequest

from engine.automations import holding, service
from engine.automations.models import ACTIVE, DRAFT, PAUSED
from engine.automations.service import StatusChange, Wish
from engine.core.outcome import Recorded, Refused
from web import auth, errors, htmx
from web.automations import blueprint, messages
from web.automations.blueprint import pages
from web.request import now, session

# Somebody else was there first: nothing is wrong with the automation, so the page says no more.
_OVERTAKEN: Final = frozenset({"lost_race", "illegal_edge"})


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


def _switch(public_id: str, wish: Wish, expected: str) -> Response:
    """Ask for a status; only from the one that the pressed dialog spoke of, or from `to` itself."""
    workspace_id = auth.person().workspace_id
    found = blueprint.found(public_id)
    answer: StatusChange | Refused = Refused("illegal_edge")
    if found.row.status in {expected, wish.to}:
        answer = service.change_status(
            session(), workspace_id, public_id, wish, auth.actor(), now()
        )
    if isinstance(answer, Refused):
        errors.abort_if_missing(answer)
        if answer.reason not in _OVERTAKEN:
            return blueprint.show(found, answer)
        flash(messages.reason(answer), "hold")
    elif isinstance(answer.outcome, Recorded):
        flash(messages.already(answer.outcome.status, found.row.name), "hold")
    else:
        moved = answer.outcome
        flash(messages.done(moved.before, moved.after, answer.told, found.row.name))
    return htmx.see_other(url_for("automations.detail", public_id=public_id))
