"""A copy of an automation, and its end."""

from flask import Response, flash, request, url_for
from flask_babel import gettext as _

from engine.automations import queries, service
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import blueprint, messages, switched
from web.automations.blueprint import pages
from web.automations.switching import SURE, ask_again
from web.request import now, session


@pages.post("/<public_id>/duplicate")
@auth.requires("automations:manage")
def duplicate_automation(public_id: str) -> Response:
    """Make a draft with the same start, settings and steps, and open it."""
    workspace_id, word = auth.person().workspace_id, _("Copy")
    done = service.duplicate(session(), workspace_id, public_id, auth.actor(), now(), word)
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        return blueprint.show(blueprint.found(public_id), done)
    flash(_("This is the copy: a draft that nobody is in."))
    return htmx.see_other(url_for("automations.detail", public_id=done.public_id))


@pages.post("/<public_id>/delete")
@auth.requires("automations:manage")
def delete_automation(public_id: str) -> Response:
    """Take it off the lists and end everybody inside; its runs stay readable."""
    found = blueprint.found(public_id)
    workspace_id, row = auth.person().workspace_id, found.row
    inside = queries.tallies(session(), workspace_id, [row.row_id])[row.row_id].inside
    if inside and SURE not in request.form:
        return ask_again(public_id, "delete")
    done = service.remove(session(), workspace_id, public_id, auth.actor(), now())
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        flash(messages.reason(done), "hold")
        return htmx.see_other(url_for("automations.detail", public_id=public_id))
    flash(switched.left(_("Deleted: “%(name)s”.", name=row.name), done))
    return htmx.see_other(url_for("automations.index"))
