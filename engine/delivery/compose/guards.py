"""Guards of Liquid filters and loops: no template may eat the machine (dependencies 3).

The library bounds loops, output, assignments and nesting, but no filter: seven `replace` in a row
make 268 MB. So every filter is wrapped: sizes in and out are bounded, each use costs its size, and
a render that has used up its budget ends with an error of its own.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from liquid import RenderContext
from liquid.builtin.expressions.primitive import RangeLiteral
from liquid.exceptions import FilterArgumentError, LiquidError
from liquid.undefined import Undefined

LONGEST_TEXT: Final = 50_000
LONGEST_LIST: Final = 1_000
LONGEST_LOOP: Final = 10_000
_LARGEST_NUMBER: Final = 10**30
_LONGEST_DATE: Final = 100
_WORK: Final = 2_000_000
_CALL_COST: Final = 20
_TAG: Final = re.compile(r"<[^<>]*>")

Filter = Callable[..., Any]


class TooMuchWork(LiquidError):
    """A render asked for more than its share; no setting of the template's own data helps."""


@dataclass
class Budget:
    """What one render may still do. now: the instant of the render; nodes: tags in the template."""

    now: datetime
    nodes: int
    left: int = _WORK

    def spend(self, cost: int) -> None:
        """Take `cost` off; raises TooMuchWork when nothing is left."""
        self.left -= cost
        if self.left < 0:
            raise TooMuchWork("this template does too much work", token=None)


_budget: Final[ContextVar[Budget]] = ContextVar("liquid_budget")


@contextmanager
def budget(now: datetime, nodes: int) -> Iterator[None]:
    """Give the renders of this block one common budget."""
    token = _budget.set(Budget(now, nodes))
    try:
        yield
    finally:
        _budget.reset(token)


class BoundedContext(RenderContext):
    """A render context whose loops cost their length times the tags of the template.

    The library bounds one nest of loops; a thousand loops in a row pass it.
    """

    def raise_for_loop_limit(self, length: int = 1) -> None:
        """Refuse a loop that is too long by itself or one too many."""
        super().raise_for_loop_limit(length)
        spent = _budget.get()
        spent.spend(length * max(_CALL_COST, spent.nodes))


def guarded(name: str, filter_: Filter) -> Filter:
    """Return `filter_` with bounded arguments, bounded result and no foreign exceptions."""

    @functools.wraps(filter_)
    def wrapper(value: Any, *args: Any, **kwargs: Any) -> Any:
        given = [value, *args, *(kwargs[key] for key in kwargs if key not in _CONTEXTUAL)]
        _budget.get().spend(_CALL_COST + sum(_size(name, each) for each in given))
        _PRECHECKS.get(name, _unchecked)(name, given)
        try:
            result = filter_(value, *args, **kwargs)
        except (ArithmeticError, ValueError, TypeError, LookupError, OSError) as error:
            raise FilterArgumentError(f"{name}: {error}", token=None) from error
        _size(name, result)
        return result

    return wrapper


_CONTEXTUAL: Final = frozenset({"context", "environment"})


def _size(name: str, value: Any) -> int:
    """Return what a value costs; raises TooMuchWork for one that is too large."""
    if isinstance(value, str):
        cost, fits = len(value), len(value) <= LONGEST_TEXT
    elif isinstance(value, list | tuple | range):
        cost, fits = len(value) * _CALL_COST, len(value) <= LONGEST_LIST
    elif isinstance(value, int | float):
        cost, fits = 1, not abs(value) > _LARGEST_NUMBER
    else:
        cost, fits = 1, True
    if not fits:
        raise TooMuchWork(f"{name}: the value is too large", token=None)
    return cost


def _unchecked(_name: str, _given: list[Any]) -> None:
    """Most filters grow their input by a small factor only."""


def _check_replace(name: str, given: list[Any]) -> None:
    # An empty search text matches between all characters.
    text, search, new = ([str(each) for each in given] + ["", ""])[:3]
    found = text.count(search) if search else len(text) + 1
    _check_length(name, len(text) + found * len(new))


def _check_join(name: str, given: list[Any]) -> None:
    items = given[0] if isinstance(given[0], list | tuple | range) else []
    separator = str(given[1]) if len(given) > 1 else " "
    _check_length(name, sum(len(str(item)) + len(separator) for item in items))


def _check_date(name: str, given: list[Any]) -> None:
    if isinstance(given[0], str) and len(given[0]) > _LONGEST_DATE:
        raise FilterArgumentError(f"{name}: this is no date", token=None)


def _check_length(name: str, length: int) -> None:
    if length > LONGEST_TEXT:
        raise TooMuchWork(f"{name}: the value is too large", token=None)


_PRECHECKS: Final[Mapping[str, Callable[[str, list[Any]], None]]] = {
    "replace": _check_replace,
    "join": _check_join,
    "date": _check_date,
}


def strip_html(value: Any) -> str:
    """Remove tags in linear time; the library's expression is quadratic on unclosed ones."""
    return _TAG.sub("", "" if value is None or isinstance(value, Undefined) else str(value))


def dated(date: Filter) -> Filter:
    """Return the `date` filter with `now` and `today` read from the render, not the machine."""

    @functools.wraps(date)
    def wrapper(value: Any, *args: Any, **kwargs: Any) -> Any:
        now = isinstance(value, str) and value in {"now", "today"}
        return date(_budget.get().now if now else value, *args, **kwargs)

    return wrapper


_make_range: Final = RangeLiteral._make_range


def _short_range(literal: RangeLiteral, start: Any, stop: Any) -> range:
    made = _make_range(literal, start, stop)
    if len(made) > LONGEST_LOOP:
        raise TooMuchWork("this range is too long", token=None)
    return made


def bound_ranges() -> None:
    """Bound ranges wherever they stand: `contains` walks one from end to end, outside any loop.

    The library has no hook for it, and delivery is its only user in this process.
    """
    RangeLiteral._make_range = _short_range  # type: ignore[method-assign,assignment]
