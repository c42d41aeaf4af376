"""Pages by keyset, newest first (architecture 5): never an offset."""

import re
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, true

from engine.core.ids import read_cursor, write_cursor

# What a row id can look like; a cursor with anything else was never written here.
_ROW_ID: Final = re.compile(r"[0-9]{1,18}", re.ASCII)


def older(row_id: Any, cursor: str | None) -> ColumnElement[bool]:
    """Return the predicate "behind the row that `cursor` names"; a made-up cursor counts as none.

    row_id: the column of the row's id.
    """
    place = read_cursor(cursor, 1) if cursor else None
    if place is None or not _ROW_ID.fullmatch(place[0]):
        return true()
    behind: ColumnElement[bool] = row_id < int(place[0])
    return behind


def next_cursor(row_ids: Sequence[int], limit: int) -> str | None:
    """Return the cursor behind a page, given the row ids of the `limit` + 1 rows asked for."""
    return write_cursor(row_ids[limit - 1]) if len(row_ids) > limit else None
