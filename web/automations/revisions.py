"""The history of what was in force: the list, one revision beside the draft, and its restore."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import Response, flash, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.exceptions import NotFound

from engine.accounts import trail
from engine.automations import queries, service
from engine.automations.comparing import ADDED, CHANGED, MOVED, REMOVED, Comparison, compare
from engine.automations.queries import AutomationDetail, RevisionRow
from engine.automations.queries.revisions import get_revision
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.audit.messages import who
from web.automations import (
    blueprint,
    comparison,
    differences,
    messages,
    reading,
    track,
    workplace,
)
from web.automations.blueprint import pages
from web.filters import number as shown
from web.request import now, session
from web.tables import Page


@dataclass(frozen=True)
class Line:
    """A revision in the list. changes: against the one before, in words."""

    number: int
    by: str
    at: datetime
    in_force: bool
    steps: int
    changes: str


@pages.get("/<public_id>/revisions")
@auth.requires("automations:read")
def revisions(public_id: str) -> Response:
    """Show what was ever in force, the newest first."""
    workspace_id = auth.person().workspace_id
    found, after = service.find(session(), workspace_id, public_id), request.args.get("cursor")
    rows = queries.page_revisions(session(), workspace_id, public_id, after)
    if found is None or rows is None:
        raise NotFound
    newest = queries.newest_number(session(), workspace_id, found.id)
    return htmx.render(
        "automations/revisions.html",
        automation=found,
        revisions=list(_lines(workspace_id, public_id, rows[0])),
        choices=comparison.choices(newest),
        pair=(str(max(1, newest - 1)), str(newest) if newest > 1 else comparison.DRAFT),
        page=Page(rows[1], first=after is None),
    )


@pages.get("/<public_id>/revisions/<int(max=999999):number>")
@auth.requires("automations:read")
def revision(public_id: str, number: int) -> Response:
    """Show a revision, and what the draft would be otherwise if it were restored."""
    return _show(blueprint.found(public_id), number)


@pages.post("/<public_id>/revisions/<int(max=999999):number>/restore")
@auth.requires("automations:manage")
def restore(public_id: str, number: int) -> Response:
    """Make a revision the draft; what runs is not touched until that is published."""
    found = blueprint.found(public_id)
    workspace_id, version = auth.person().workspace_id, workplace.seen_version()
    done = service.restore(session(), workspace_id, public_id, number, version, auth.actor(), now())
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        return _show(found, number, done)
    flash(
        _(
            "The draft says what revision %(number)s said. Nothing changes for people yet.",
            number=number,
        )
    )
    return htmx.see_other(url_for("automations.detail", public_id=public_id))


def _show(found: AutomationDetail, number: int, refused: Refused | None = None) -> Response:
    workspace_id, row = auth.person().workspace_id, found.row
    frozen = get_revision(session(), workspace_id, row.public_id, number)
    if frozen is None:
        raise NotFound
    changes = compare(found.draft, frozen.document)
    told = reading.tell(session(), workspace_id, frozen.document)
    return htmx.render(
        "automations/revision.html",
        status=200 if refused is None else errors.status_of(refused),
        automation=row,
        revision=frozen,
        by=who(frozen.created_by, trail.names(session(), workspace_id, [frozen.created_by])),
        rows=track.stations(told) if told else (),
        reentry=messages.reentry(frozen.document.get("reentry")),
        same=changes.same,
        refused=messages.reason(refused) if refused else "",
        **differences.told(
            session(),
            workspace_id,
            (found.draft, frozen.document),
            changes,
            (found.names, told.steps if told else None),
        ),
    )


def _lines(workspace_id: int, public_id: str, rows: Sequence[RevisionRow]) -> Iterator[Line]:
    names = trail.names(session(), workspace_id, {row.created_by for row in rows})
    before = None
    if rows and rows[-1].number > 1:
        before = get_revision(session(), workspace_id, public_id, rows[-1].number - 1)
    for row, older in zip(rows, [*rows, before][1:], strict=True):
        yield Line(
            row.number,
            who(row.created_by, names),
            row.created_at,
            row.in_force,
            len(row.document["steps"]),
            _changes(compare(older.document, row.document)) if older else str(_("the first one")),
        )


def _changes(found: Comparison) -> str:
    """Return how much differs, in words."""
    counts = Counter(step.what for step in found.steps)
    told = [_count(what, counts[what]) for what in (ADDED, REMOVED, CHANGED, MOVED) if counts[what]]
    if found.trigger_changed:
        told.append(_("another start"))
    if any(not each.path.startswith("trigger") for each in found.settings):
        told.append(_("settings"))
    return " · ".join(told) or str(_("nothing"))


def _count(what: str, count: int) -> str:
    said = {
        ADDED: ngettext("%(shown)s step added", "%(shown)s steps added", count, shown=shown(count)),
        REMOVED: ngettext("%(shown)s removed", "%(shown)s removed", count, shown=shown(count)),
        CHANGED: ngettext("%(shown)s changed", "%(shown)s changed", count, shown=shown(count)),
        MOVED: ngettext("%(shown)s moved", "%(shown)s moved", count, shown=shown(count)),
    }
    return str(said[what])
