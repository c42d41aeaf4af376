"""Publishing over what is in force: what differs, whom it meets, and what becomes of them (A8)."""

from flask import Response, flash, request, url_for
from werkzeug.exceptions import BadRequest

from engine.automations import service
from engine.automations.models import DRAFT
from engine.automations.queries import AutomationDetail
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import (
    asked,
    blueprint,
    messages,
    prospect,
    workplace,
)
from web.automations.blueprint import pages
from web.request import now, session


@pages.get("/<public_id>/publish")
@auth.requires("automations:read")
def ask_publish(public_id: str) -> Response:
    """Show what publishing the draft would change, and the people inside whom that meets."""
    return _show(blueprint.found(public_id))


@pages.post("/<public_id>/publish")
@auth.requires("automations:publish")
def publish(public_id: str) -> Response:
    """Put the draft in force that the page showed; people inside stay or move as chosen."""
    found = blueprint.found(public_id)
    people = request.form.get("people_inside", service.STAY)
    if people not in {service.STAY, service.MOVE}:
        raise BadRequest
    done = service.publish(
        session(),
        auth.person().workspace_id,
        public_id,
        people,
        auth.actor(),
        now(),
        workplace.seen_version(),
    )
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        return _show(blueprint.found(public_id), done)
    flash(messages.published(done, found.row.name))
    return htmx.see_other(url_for("automations.detail", public_id=public_id))


def _show(found: AutomationDetail, refused: Refused | None = None) -> Response:
    workspace_id, row = auth.person().workspace_id, found.row
    preview = service.preview_publish(session(), workspace_id, row.public_id, now())
    if row.status == DRAFT:
        if refused is not None:
            flash(messages.reason(refused), "hold")
        return htmx.see_other(url_for("automations.detail", public_id=row.public_id))
    if isinstance(preview, Refused):
        errors.abort_if_missing(preview)
        return blueprint.show(found, preview)
    return htmx.render(
        "automations/publish.html",
        status=200 if refused is None else errors.status_of(refused),
        refused=messages.reason(refused) if refused else "",
        may_publish=auth.may("automations:publish"),
        requests=asked.waiting(session(), workspace_id, found, auth.actor().name),
        **prospect.of_draft(session(), workspace_id, found),
        **prospect.of_publish(session(), workspace_id, found, preview),
    )
