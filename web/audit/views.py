"""The audit log: a page of entries with filters in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flask import Blueprint, Response, current_app, request, url_for

from engine.accounts import trail
from engine.accounts.trail import Entry, Filter
from engine.automations import queries as automations
from engine.core.audit import Scalar
from web import auth, days, htmx
from web.audit.messages import done, who
from web.request import session
from web.tables import Page

pages = Blueprint("audit", __name__, url_prefix="/audit")
_FIELDS: Final = ("action", "actor", "since", "until")
# A detail that is an actor: who had asked for what was granted.
_ASKER: Final = "asked_by"
# Where the page of a thing is, by the kind of thing that an entry names.
_PAGES: Final = {
    "approval": "approvals.detail",
    "automation": "automations.detail",
    "run": "runs.detail",
    "contact": "people.detail",
    "send": "sends.detail",
}


@dataclass(frozen=True)
class Line:
    """An entry as the list shows it; everything in words."""

    at: datetime
    actor: str
    action: str
    words: str
    object: str
    url: str
    no_op: bool
    details: Sequence[tuple[str, Scalar]]


@pages.get("")
@auth.requires("audit:read")
def index() -> Response:
    """Show who changed what, the newest first."""
    workspace_id = auth.person().workspace_id
    asked = {name: request.args.get(name, "").strip() for name in _FIELDS}
    after = request.args.get("cursor")
    entries, following = trail.page_entries(session(), workspace_id, _filter(asked), after)
    actors = {entry.actor for entry in entries}
    actors |= {str(entry.details[_ASKER]) for entry in entries if _ASKER in entry.details}
    names = trail.names(session(), workspace_id, actors)
    things = automations.automation_names(
        session(), workspace_id, {entry.resource_id for entry in entries if entry.resource_id}
    )
    return htmx.render(
        "audit/list.html",
        entries=[_line(entry, names, things) for entry in entries],
        filter=asked,
        filtered=any(asked.values()),
        page=Page(following, first=after is None),
    )


def _filter(asked: Mapping[str, str]) -> Filter:
    span = days.read(asked, auth.person().timezone)
    return Filter(
        action=asked["action"] or None,
        actor=asked["actor"] or None,
        since=span.since,
        until=span.until,
    )


def _line(entry: Entry, names: Mapping[str, str], things: Mapping[str, str]) -> Line:
    name = entry.details.get("name") or things.get(entry.resource_id or "")
    details = [
        (key, who(str(value), names) if key == _ASKER else value)
        for key, value in entry.details.items()
        if key not in {"name", "no_op"}
    ]
    return Line(
        at=entry.at,
        actor=who(entry.actor, names),
        action=entry.action,
        words=done(entry.action),
        object=str(name or entry.resource_id or ""),
        url=_url(entry),
        no_op=bool(entry.details.get("no_op")),
        details=details,
    )


def _url(entry: Entry) -> str:
    endpoint = _PAGES.get(entry.resource, "")
    if entry.resource_id is None or endpoint not in current_app.view_functions:
        return ""
    return url_for(endpoint, public_id=entry.resource_id) if auth.may_open(endpoint) else ""
