"""The blueprint of automations, and what its modules share: find one, show its page."""

from typing import Any, Final

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from engine.automations import queries
from engine.automations.queries import AutomationDetail
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import asked, findings, panels, showing
from web.automations.panels import Panel
from web.request import now, session

pages = Blueprint("automations", __name__, url_prefix="/automations")
LIVE: Final = "live"


def found(public_id: str) -> AutomationDetail:
    """Return the automation of the person's workspace; anything else is a page not found."""
    automation = queries.get_automation(session(), auth.person().workspace_id, public_id)
    if automation is None:
        raise NotFound
    return automation


def edits() -> bool:
    """Whether the page is the editor: for who may edit, unless what is in force is asked for."""
    return auth.may("automations:manage") and request.args.get("view") != LIVE


def show(
    automation: AutomationDetail,
    refused: Refused | None = None,
    *,
    panel: Panel | None = None,
    selected: str = "",
    said: str = "",
    status: int = 200,
) -> Response:
    """Return its page, or for htmx the work alone.

    refused: with what was refused, and the status that says so; panel, or selected: what stands
    in the rail; said: what was just done, for a fragment.
    """
    workspace_id = auth.person().workspace_id
    page = context(automation)
    draft = page["draft"]
    if draft is not None and panel is None:
        wanted = request.args if request.method == "GET" else {"step": selected}
        panel = panels.asked(session(), workspace_id, draft, wanted)
    if refused is not None:
        page |= findings.refusal(automation, refused)
        status = errors.status_of(refused)
    return htmx.render(
        "automations/detail.html",
        "automations/_work.html",
        status=status,
        panel=panel,
        said=said,
        **page,
    )


def context(automation: AutomationDetail) -> dict[str, Any]:
    """Return what its page shows, but for the rail."""
    workspace_id = auth.person().workspace_id
    return {
        **showing.page(session(), workspace_id, automation, now(), editing=edits()),
        "may_publish": auth.may("automations:publish"),
        "requests": asked.waiting(session(), workspace_id, automation, auth.actor().name),
        "view": request.args.get("view", ""),
    }
