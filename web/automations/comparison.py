"""Any two revisions beside each other, or the draft beside one: what differs, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flask import Response, request
from flask_babel import gettext as _
from werkzeug.exceptions import NotFound

from engine.accounts import trail
from engine.automations import queries, service
from engine.automations.comparing import compare
from engine.automations.models import Automation
from engine.automations.queries.revisions import get_revision
from engine.core.db import JsonObject
from web import auth, htmx
from web.audit.messages import who
from web.automations import differences
from web.automations.blueprint import pages
from web.request import session

DRAFT: Final = "draft"
# So many of the newest revisions are on offer; the address takes any.
_MOST_CHOICES: Final = 200


@dataclass(frozen=True)
class Side:
    """One of the two. chosen: as the address names it; by: "" for the draft."""

    chosen: str
    title: str
    by: str
    at: datetime
    in_force: bool
    document: JsonObject


@pages.get("/<public_id>/revisions/compare")
@auth.requires("automations:read")
def compare_revisions(public_id: str) -> Response:
    """Show what differs between the two that the address names; by default, newest and draft."""
    workspace_id = auth.person().workspace_id
    found = service.find(session(), workspace_id, public_id)
    if found is None:
        raise NotFound
    newest = queries.newest_number(session(), workspace_id, found.id)
    before = _side(found, request.args.get("from") or (str(newest) if newest else DRAFT))
    after = _side(found, request.args.get("to") or DRAFT)
    comparison = compare(before.document, after.document)
    return htmx.render(
        "automations/compare.html",
        automation=found,
        before=before,
        after=after,
        same=comparison.same,
        choices=choices(newest, {before.chosen, after.chosen}),
        **differences.told(session(), workspace_id, (before.document, after.document), comparison),
    )


def choices(newest: int, chosen: set[str] | None = None) -> Sequence[tuple[str, str]]:
    """Return what can be compared, as values and words: the draft, the newest revisions, `chosen`.

    newest: the number of the newest revision, 0 for none.
    """
    numbers = set(range(max(1, newest - _MOST_CHOICES + 1), newest + 1))
    numbers |= {int(each) for each in chosen or () if each != DRAFT}
    return [(DRAFT, _title(DRAFT)), *((str(n), _title(str(n))) for n in sorted(numbers)[::-1])]


def _side(found: Automation, chosen: str) -> Side:
    workspace_id = auth.person().workspace_id
    if chosen == DRAFT:
        draft = service.draft_document(session(), found)
        return Side(DRAFT, _title(DRAFT), "", found.edited_at, in_force=False, document=draft)
    number = int(chosen) if chosen.isascii() and chosen.isdigit() and len(chosen) < 7 else 0
    row = get_revision(session(), workspace_id, found.public_id, number)
    if row is None:
        raise NotFound
    by = who(row.created_by, trail.names(session(), workspace_id, [row.created_by]))
    return Side(
        str(number), _title(str(number)), by, row.created_at, row.in_force, document=row.document
    )


def _title(chosen: str) -> str:
    if chosen == DRAFT:
        return str(_("The draft"))
    return str(_("Revision %(number)s", number=chosen))
