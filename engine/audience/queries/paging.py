"""Pages by keyset and public ids that come from outside: what the database may be asked for."""

import re
from typing import Any, Final, TypeVarTuple

from sqlalchemy import Select

from engine.core.ids import read_cursor, write_cursor

# What a public id or a row id can look like; anything else is asked of no database.
_PUBLIC_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_ROW_ID: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
Columns = TypeVarTuple("Columns")


def is_public_id(text: str) -> bool:
    """Return whether `text` can be a public id at all."""
    return _PUBLIC_ID.fullmatch(text) is not None


def older_than(query: Select[*Columns], column: Any, cursor: str | None) -> Select[*Columns]:
    """Return `query` behind the row that `cursor` names; one that was never answered is none."""
    place = read_cursor(cursor, 1) if cursor else None
    if place is None or not _ROW_ID.fullmatch(place[0]):
        return query
    return query.where(column < int(place[0]))


def next_cursor(row_ids: list[int], limit: int) -> str | None:
    """Return the cursor behind the page, given the row ids of `limit` + 1 rows asked for."""
    return write_cursor(row_ids[limit - 1]) if len(row_ids) > limit else None
