"""An open page follows: what changed since it was shown, asked every few seconds (check 27)."""

from typing import Any, Final

from flask import Response, current_app, make_response, render_template, request, url_for
from werkzeug.exceptions import NotFound

from engine.automations.graph import END
from engine.automations.queries.watching import Watched, watch
from web import auth, htmx
from web.automations import blueprint, switched
from web.automations.blueprint import pages
from web.automations.track import START
from web.filters import number
from web.request import session

_MARKS: Final = 4


@pages.get("/<public_id>/live")
@auth.requires("automations:read")
def live(public_id: str) -> Response:
    """Answer 204 while nothing changed, else with what the page has to show anew.

    Numbers alone go by their ids. Where the status or the number of people inside changed, the
    signal, the buttons and the dialogs come along, for they name that number.
    """
    workspace_id = auth.person().workspace_id
    watched = watch(session(), workspace_id, public_id)
    if watched is None:
        raise NotFound
    if not htmx.wants_fragment():
        return htmx.see_other(url_for("automations.detail", public_id=public_id))
    had, have = _parts(request.args.get("seen", "")), watched.marks.split(".")
    if had == have:
        return make_response("", 204)
    switch, draft, inside = (old != new for old, new in zip(had[:3], have[:3], strict=True))
    context: dict[str, Any] = {"seen": watched.marks, "numbers": _numbers(watched)}
    if not (switch or draft or inside):
        # The usual case asks nothing more of the database, not even what stands around a page.
        template = current_app.jinja_env.get_template("automations/_numbers.html")
        return make_response(template.render(context))
    if switch or inside:
        context |= blueprint.context(blueprint.found(public_id))
    if switch:
        context["by"] = switched.last(session(), workspace_id, public_id)
    if switch or draft:
        context["page"] = url_for("automations.detail", public_id=public_id)
    return make_response(
        render_template("automations/_live.html", switch=switch, edited=draft, **context)
    )


def _parts(text: str) -> list[str]:
    parts = text.split(".")
    return parts if len(parts) == _MARKS else [""] * _MARKS


def _numbers(watched: Watched) -> list[tuple[str, str]]:
    """Return (id, number) of each figure on the page."""
    tally = watched.tally
    counts = {
        **{f"in-{key}": count for key, count in watched.standing.items()},
        f"in-{START}": tally.entered,
        f"in-{END}": tally.finished,
        "all-inside": tally.inside,
        "all-entered": tally.entered,
        "all-finished": tally.finished,
        "all-ended": tally.cancelled,
    }
    return [(name, number(count)) for name, count in counts.items()]
