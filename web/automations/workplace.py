"""Shows the work on a draft: the whole page, the work alone, or only the rail, as is asked for."""

from http import HTTPStatus

from flask import Response, flash, make_response, render_template, request, url_for
from werkzeug.exceptions import BadRequest, NotFound

from engine.core.outcome import Refused
from web import htmx, shell
from web.automations import blueprint, messages
from web.automations.drafts import Draft
from web.automations.panels import Panel

RAIL = "rail"


def seen_version() -> int:
    """Return the version of the draft that the form was made of."""
    try:
        return int(request.form.get("version", ""))
    except ValueError:
        raise BadRequest from None


def wants_rail() -> bool:
    """Whether only the rail is to be swapped."""
    return htmx.wants_fragment() and request.headers.get("HX-Target") == RAIL


def show(draft: Draft, panel: Panel, status: int = HTTPStatus.OK) -> Response:
    """Return the rail with a panel, or the page around it."""
    if not htmx.wants_fragment():
        return blueprint.show(blueprint.found(draft.public_id), panel=panel, status=status)
    shell.frameless()
    return make_response(
        render_template("automations/_rail.html", draft=draft, panel=panel), status
    )


def refuse(draft: Draft, panel: Panel | None, status: int) -> Response:
    """Return a panel that says why an edit was not made; into the rail wherever it was asked."""
    if panel is None:
        raise NotFound
    answer = show(draft, panel, status)
    answer.headers["HX-Retarget"] = f"#{RAIL}"
    answer.headers["HX-Reswap"] = "outerHTML settle:0ms"
    return answer


def saved(draft: Draft, selected: str, said: str) -> Response:
    """Show the work after an edit, with the step that is selected then; said: what was done."""
    here = url_for("automations.detail", public_id=draft.public_id, step=selected or None)
    if not htmx.wants_fragment():
        flash(said)
        return htmx.see_other(here)
    found = blueprint.found(draft.public_id)
    answer = blueprint.show(found, selected=selected, said=said)
    answer.headers["HX-Push-Url"] = here
    return answer


def refused_walk(draft: Draft, refused: Refused, selected: str) -> Response:
    """Show the work again where there was nothing to undo or redo, and say so."""
    return saved(draft, selected, messages.reason(refused))
