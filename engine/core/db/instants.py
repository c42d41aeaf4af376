"""Arithmetic on instants inside a statement, exact to the microsecond on both databases."""

from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Interval, cast, func, literal, type_coerce
from sqlalchemy.orm import Session
from sqlalchemy.types import Text

from engine.core.db.schema import Instant

_SECOND: Final = 1_000_000
_TICK: Final = literal("1 microsecond", Text())


def later(session: Session, instant: Any, microseconds: Any) -> ColumnElement[Any]:
    """Return the SQL of `instant` moved by so many microseconds.

    instant: a column or expression of type Instant; microseconds: an integer or an integer
    expression, below 285 years. SQLite keeps instants as text (interface.md) and has no intervals.
    """
    moved = cast(microseconds, BigInteger)
    if session.get_bind().dialect.name != "sqlite":
        return type_coerce(instant + cast(_TICK, Interval).op("*")(moved), Instant())
    text = type_coerce(instant, Text())
    whole = cast(func.strftime("%s", func.substr(text, 1, 19)), BigInteger)
    ticks = whole * _SECOND + cast(func.substr(text, 21, 6), BigInteger) + moved
    second = func.strftime("%Y-%m-%d %H:%M:%S", ticks // _SECOND, "unixepoch", type_=Text())
    return type_coerce(second + func.printf(".%06d", ticks % _SECOND, type_=Text()), Instant())
