"""The reads of views: what one person has saved for one list."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import SavedView


@dataclass(frozen=True)
class ViewLine:
    """A saved view. query: the filters as they stand in the address."""

    public_id: str
    name: str
    query: str


def list_views(
    session: Session, workspace_id: int, user_id: int, area: str, limit: int = 50
) -> list[ViewLine]:
    """Return a person's views of an area by name, at most `limit`."""
    row = SavedView
    found = session.execute(
        select(row.public_id, row.name, row.query)
        .where(row.workspace_id == workspace_id, row.user_id == user_id, row.area == area)
        .order_by(row.name, row.id)
        .limit(limit)
    )
    return [ViewLine(*each) for each in found]
