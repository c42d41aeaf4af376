"""Looks for texts by what they begin with, as a range that an index by bytes answers."""

from typing import Any, Final

from sqlalchemy import ColumnElement, and_
from sqlalchemy.orm import InstrumentedAttribute, Session

from engine.core.db.prepared import dialect_of

_LAST: Final = 0x10FFFF
# Halves of pairs in UTF-16, which no text of a database holds.
_HALVES: Final = range(0xD800, 0xE000)


def begins_with(
    session: Session, column: InstrumentedAttribute[Any], text: str
) -> ColumnElement[bool]:
    """Return the predicate "the column begins with `text`", compared byte by byte.

    On PostgreSQL too, whose own order of texts knows no beginnings: its index must be made with
    text_pattern_ops or varchar_pattern_ops. text: not empty, and storable.
    """
    behind = _behind(text)
    if dialect_of(session) == "sqlite":
        least = column >= text
        return least if behind is None else and_(least, column < behind)
    least = column.op("~>=~", is_comparison=True)(text)
    return least if behind is None else and_(least, column.op("~<~", is_comparison=True)(behind))


def _behind(text: str) -> str | None:
    """Return the first text behind all that begin with `text`; None where nothing is behind."""
    while text:
        following = ord(text[-1]) + 1
        if following in _HALVES:
            following = _HALVES.stop
        if following <= _LAST:
            return text[:-1] + chr(following)
        text = text[:-1]
    return None
