"""Views of a list: its filters under a name, for one person alone.

Saving again under a name replaces what it kept. Nothing of this is audited: it changes nothing that
anybody else sees.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from engine.accounts.models import SavedView
from engine.core.db import upsert
from engine.core.ids import is_public_id, new_public_id
from engine.core.outcome import Refused, invalid, missing
from engine.core.text import storable

# The areas that know views.
RUNS: Final = "runs"
MAX_NAME: Final = 80
MAX_QUERY: Final = 2_000
MOST: Final = 50


@dataclass(frozen=True)
class Saved:
    """A view after saving. replaced: there was one of this name, with other filters."""

    name: str
    replaced: bool


@dataclass(frozen=True)
class Deleted:
    """A view that is no more."""

    name: str
    query: str


def save_view(
    session: Session,
    workspace_id: int,
    user_id: int,
    area: str,
    name: str,
    query: str,
    at: datetime,
) -> Saved | Refused:
    """Keep the filters of a list under a name; white space around and inside it is put in order.

    query: as it stands in the address, only what the area knows. Refused: `view_name_missing`,
    `view_name_too_long`, `view_name_invalid`, `view_empty`, `view_too_long`, `too_many_views`.
    """
    label = " ".join(name.split())
    fault = _fault(label, query)
    if fault is not None:
        return fault
    row = SavedView
    mine = (row.workspace_id == workspace_id, row.user_id == user_id, row.area == area)
    before = session.scalar(select(row.query).where(*mine, row.name == label))
    if before is None:
        count = session.scalar(select(func.count()).select_from(row).where(*mine)) or 0
        if count >= MOST:
            return Refused("too_many_views", "too_many", params={"limit": MOST})
    values = {
        "workspace_id": workspace_id,
        "public_id": new_public_id(),
        "user_id": user_id,
        "area": area,
        "name": label,
        "query": query,
        "created_at": at,
    }
    keys = ["workspace_id", "user_id", "area", "name"]
    session.execute(
        upsert(session, row)
        .values(values)
        .on_conflict_do_update(index_elements=keys, set_={"query": query})
    )
    return Saved(label, before is not None and before != query)


def delete_view(
    session: Session, workspace_id: int, user_id: int, public_id: str
) -> Deleted | Refused:
    """Delete a view and say what it was. Refused: `view_not_found`, also for somebody else's."""
    if not is_public_id(public_id):
        return missing("view_not_found")
    row = SavedView
    gone = session.execute(
        delete(row)
        .where(row.workspace_id == workspace_id, row.user_id == user_id, row.public_id == public_id)
        .returning(row.name, row.query)
        .execution_options(synchronize_session=False)
    ).first()
    return missing("view_not_found") if gone is None else Deleted(gone.name, gone.query)


def _fault(label: str, query: str) -> Refused | None:
    if not label:
        return invalid("view_name_missing", "/name")
    if len(label) > MAX_NAME:
        return invalid("view_name_too_long", "/name", limit=MAX_NAME, length=len(label))
    if not storable(label):
        return invalid("view_name_invalid", "/name")
    if not query:
        return Refused("view_empty", "invalid")
    return Refused("view_too_long", "invalid") if len(query) > MAX_QUERY else None
