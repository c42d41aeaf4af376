"""Frozen revisions of an automation by API: the list, and one of them as the draft again."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from engine.automations import queries, service
from engine.automations.queries import RevisionRow
from engine.automations.queries.revisions import get_revision
from engine.core.outcome import Refused, missing
from web.api.answers import IF_MATCH_REQUIRED
from web.api.automation_differences import too_late
from web.api.automations import UNKNOWN, AutomationOut, area, read, version_of
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


class ByNumber(ById):
    """The path of one revision."""

    number: Annotated[int, Field(ge=1, le=999_999)]


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


@area.post(
    "/automations/<id>/revisions/<number>/restore",
    "automations:manage",
    {200: AutomationOut},
    guarded=True,
)
def restore_revision(call: Call, path: ByNumber) -> Result:
    """Make a revision the draft; what runs is not touched until that is published.

    A 412 shows the draft as it stands and who changed it (`current`), and what the restore would
    change in it (`differences`). A revision that says what the draft says keeps the ETag.
    """
    place = (call.session, call.workspace_id, path.id, path.number)
    done = service.restore(*place, version_of(call.etag), call.actor, call.at)
    if not isinstance(done, Refused):
        return read(call, path.id, 200)
    if done.reason != "stale":
        return done
    frozen = get_revision(*place)
    if frozen is None:
        return missing("revision_not_found")
    seen = service.current(call.session, call.workspace_id, path.id)
    if seen is None:
        return UNKNOWN
    return IF_MATCH_REQUIRED if call.etag is None else too_late(seen, frozen.document)


def _revision(row: RevisionRow) -> RevisionOut:
    return RevisionOut(**shown(row, RevisionOut))
