"""Which events a workspace has seen lately, by name: to offer where a name is typed."""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.core.db import table_of
from engine.core.events import Event

NAMED: Final = "event_received"
# So many of the newest events are looked through, of all workspaces: no index knows the names.
LOOKED_AT: Final = 5_000


def names_seen(session: Session, workspace_id: int, limit: int = 100) -> list[str]:
    """Return names of events among the newest of the installation, by name, at most `limit`.

    One statement that reads LOOKED_AT rows of the primary key and no more.
    """
    row = table_of(Event).c
    newest = (
        select(row.workspace_id, row.kind, row.name)
        .order_by(row.id.desc())
        .limit(LOOKED_AT)
        .subquery()
    )
    asked = (
        select(newest.c.name)
        .where(
            newest.c.workspace_id == workspace_id,
            newest.c.kind == NAMED,
            newest.c.name.is_not(None),
        )
        .distinct()
        .order_by(newest.c.name)
        .limit(limit)
    )
    return [str(name) for name in session.scalars(asked)]
