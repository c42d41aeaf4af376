"""Frozen revisions of an automation by API."""

from datetime import datetime
from typing import Any

from engine.automations import queries
from engine.automations.queries import RevisionRow
from web.api.automations import UNKNOWN, area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, Out, Page, PageQuery, shown


class RevisionOut(Out):
    """A frozen document."""

    id: str
    number: int
    document: dict[str, Any]
    created_by: str
    created_at: datetime
    in_force: bool


@area.get("/automations/<id>/revisions", "automations:read", Page[RevisionOut])
def list_revisions(call: Call, path: ById, query: PageQuery) -> Result:
    """List the frozen documents of an automation, newest first."""
    found = queries.page_revisions(
        call.session, call.workspace_id, path.id, query.cursor, query.limit
    )
    if found is None:
        return UNKNOWN
    rows, following = found
    return Answer(Page[RevisionOut](items=[_revision(row) for row in rows], next=following))


def _revision(row: RevisionRow) -> RevisionOut:
    return RevisionOut(**shown(row, RevisionOut))
