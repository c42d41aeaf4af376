"""Keyset pages of delivery: newest first, by row id."""

from typing import Any

from sqlalchemy import ColumnElement, true

from engine.core.ids import read_cursor

# More digits than any row id has: such a cursor was never written here.
_LONGEST_ID = 18


def older(row_id: Any, after: str | None) -> ColumnElement[bool]:
    """Return the predicate "behind the cursor"; a cursor that was never answered counts as none."""
    place = read_cursor(after, 1) if after else None
    if place is None or not place[0].isdecimal() or len(place[0]) > _LONGEST_ID:
        return true()
    older_than: ColumnElement[bool] = row_id < int(place[0])
    return older_than
