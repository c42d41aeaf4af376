"""What an edit meets that came too late: a newer draft, or a step that is gone. Nothing is lost."""

from collections.abc import Callable
from typing import Any

from flask import Response, request
from flask_babel import gettext as _

from engine.accounts import trail
from engine.automations import editing, queries, service
from engine.automations.comparing import compare
from engine.automations.editing import Edit
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from web import auth
from web.audit.messages import who
from web.automations import differences, drafts, offering, reading, workplace
from web.automations.drafts import Draft
from web.automations.kinds.step_forms import STEP_FORMS
from web.request import session

# What the frame itself posts; everything else is what somebody typed or chose.
_OWN = frozenset({"csrf_token", "version"})


def stale(draft: Draft, op: Callable[[JsonObject], Edit] | None, selected: str) -> Response:
    """Show the newer draft and what the edit would change in it; 409. op: None for undo, redo."""
    workspace_id = auth.person().workspace_id
    edited = draft.document if op is None else op(draft.document)
    if isinstance(edited, Refused) and edited.kind == "missing":
        return gone(draft, selected)
    lines: tuple[Any, ...] = ()
    values: tuple[Any, ...] = ()
    mine = None if isinstance(edited, Refused) else reading.tell(session(), workspace_id, edited)
    if mine is not None and not isinstance(edited, Refused):
        found = compare(draft.document, edited)
        titles = {step.key: mine.title(step) for step in mine.graph.steps}
        lines = differences.lines(found, draft.titles, titles)
        values = differences.settings(found, (draft.told.trigger(), mine.trigger()))
    seen = service.current(session(), workspace_id, draft.public_id)
    panel = {
        "template": "automations/_conflict.html",
        "selected": selected if draft.step(selected) else "",
        "by": _name(seen.by) if seen else "",
        "at": seen.at if seen else None,
        "lines": lines,
        "settings": values,
        "walk": op is None,
        "unsound": op is not None and mine is None,
        "action": request.path,
        "posted": _posted(),
        "mistakes": [],
    }
    return workplace.refuse(draft, panel, 409)


def gone(draft: Draft, key: str) -> Response:
    """Show that the step is no longer in the draft, and what was typed for it; 404."""
    panel = gone_panel(draft, key)
    return workplace.refuse(draft, panel, 404)


def gone_panel(draft: Draft, key: str) -> dict[str, Any]:
    """Return the panel about a step that is gone, with what was posted for it, if anything."""
    workspace_id = auth.person().workspace_id
    deleted = queries.deleted_by(session(), workspace_id, draft.row_id, key)
    kind = request.form.get("kind", "")
    shape = STEP_FORMS.get(kind) if kind in STEP_FORMS else None
    form = None
    if shape is not None:
        choices = offering.read(session(), workspace_id, shape.wants)
        form = shape.fill({}, choices, request.form)
    places = editing.places(draft.document)
    return {
        "template": "automations/_gone.html",
        "selected": "",
        "key": key,
        "by": _name(deleted[0]) if deleted else "",
        "at": deleted[1] if deleted else None,
        "kind": shape,
        "form": form,
        "posted": _posted(),
        "places": [(drafts.write_place(place), draft.behind(place)) for place in places],
        "mistakes": [],
    }


def _posted() -> list[tuple[str, str]]:
    return [pair for pair in request.form.items(multi=True) if pair[0] not in _OWN]


def _name(actor: str) -> str:
    if not actor:
        return str(_("somebody"))
    return who(actor, trail.names(session(), auth.person().workspace_id, [actor]))
