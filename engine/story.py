"""The whole story of a person: every room's lines, merged newest first, paged by keyset."""

from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.audience.queries import StoryLine, StoryPlace
from engine.automations import queries as automations
from engine.core.ids import read_cursor, write_cursor
from engine.delivery import queries as delivery

_ROOMS: Final = (audience.story, delivery.story, automations.story)


def story(
    session: Session,
    workspace_id: int,
    contact_row_id: int,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[StoryLine], str | None]:
    """Return a page of a person's story and the cursor of the next, older page."""
    before = _place(after)
    lines = [
        line
        for room in _ROOMS
        for line in room(session, workspace_id, contact_row_id, before, limit + 1)
    ]
    lines.sort(key=lambda line: line.place, reverse=True)
    if len(lines) <= limit:
        return lines, None
    last = lines[limit - 1].place
    return lines[:limit], write_cursor(last.at.isoformat(), last.strand, last.row_id)


def _place(cursor: str | None) -> StoryPlace | None:
    parts = read_cursor(cursor, 3) if cursor else None
    if parts is None or not parts[2].isdecimal() or len(parts[2]) > 18:
        return None
    try:
        at = datetime.fromisoformat(parts[0])
    except ValueError:
        return None
    return StoryPlace(at, parts[1], int(parts[2])) if at.tzinfo else None
