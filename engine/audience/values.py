"""Property values: from what JSON sent to the typed columns that conditions compare (facts 2.2).

Owns reading, the text form (JavaScript's String()) and the way back; leaves rows to the services.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from engine.audience.models import BOOLEAN, INSTANT, NUMBER, TEXT
from engine.core.outcome import Problem
from engine.core.text import fold, read_number, storable

Native = str | int | float | bool
LONGEST: Final = 10_000
# Beyond this a float no longer tells neighbouring integers apart.
_EXACT: Final = 2**53
# From here on JavaScript spells an integer with an exponent.
_WIDEST: Final = 10**21


@dataclass(frozen=True)
class TypedValue:
    """A value in the columns of contact_property_values. type: the property's type."""

    type: str
    text: str
    number: float | None
    boolean: bool | None
    instant: datetime | None

    @property
    def folded(self) -> str:
        """Return the text in lower case."""
        return fold(self.text)

    def native(self) -> Native:
        """Return the value as JSON shows it; an instant as ISO text in UTC."""
        if self.type == NUMBER and self.number is not None:
            whole = self.number.is_integer() and abs(self.number) <= _EXACT
            return int(self.number) if whole else self.number
        if self.type == BOOLEAN and self.boolean is not None:
            return self.boolean
        return self.text


def of_text(text: str) -> TypedValue:
    """Return the typed columns of a text, of a built-in field for example."""
    exact = {"true": True, "false": False}.get(text)
    return TypedValue(TEXT, text, read_number(text), exact, None)


def read(kind: str, raw: object, pointer: str) -> TypedValue | Problem | None:
    """Return the typed value of `raw` for a property of type `kind`; None where it clears.

    Texts are taken for numbers, booleans and instants where they spell one, as a CSV does; a text
    property takes numbers and booleans by their String() form. '' is a text, and clears the rest.
    """
    if raw is None:
        return None
    if not isinstance(raw, str | int | float):
        return Problem(pointer, "not_a_primitive")
    if isinstance(raw, str):
        if len(raw) > LONGEST:
            return Problem(pointer, "too_long", {"limit": LONGEST})
        if not storable(raw):
            return Problem(pointer, "invalid_text")
        if kind != TEXT and not raw.strip():
            return None
    value = _READERS[kind](raw)
    return Problem(pointer, f"not_a_{kind}") if value is None else value


def comparable_text(raw: str | float | bool | None) -> str:
    """Return a comparison value as text, by String(); absent counts as '' (facts 2.2)."""
    if raw is None:
        return ""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int):
        # Longer than a float can tell apart: an order number keeps the digits that were sent.
        return str(raw)
    return number_text(raw) if isinstance(raw, float) else raw


def comparable_number(raw: str | float | bool | None) -> float | None:
    """Return a comparison value as number, by Number(); None where it is none (facts 2.2)."""
    return read_number(raw or "") if raw is None or isinstance(raw, str) else float(raw)


def number_text(value: float) -> str:
    """Return a finite number as JavaScript's String() spells it: 1, 0.5, 1e+21, 1e-7."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    spelt = "".join(map(str, digits))
    point = len(spelt) + int(exponent)
    return ("-" if sign else "") + _place_point(spelt, point)


def _place_point(digits: str, point: int) -> str:
    """Return `digits` with the point after `point` of them (ECMAScript, Number::toString)."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{mantissa}e{point - 1:+d}"


def _as_text(raw: str | float) -> TypedValue | None:
    if isinstance(raw, int) and abs(raw) >= _WIDEST:
        return None
    if isinstance(raw, float) and not math.isfinite(raw):
        return None
    return of_text(comparable_text(raw))


def _as_number(raw: str | float) -> TypedValue | None:
    if isinstance(raw, bool):
        return None
    try:
        number = read_number(raw) if isinstance(raw, str) else float(raw)
    except OverflowError:
        return None
    if number is None or not math.isfinite(number):
        return None
    number += 0.0  # -0 is 0
    return TypedValue(NUMBER, number_text(number), number, None, None)


def _as_boolean(raw: str | float) -> TypedValue | None:
    read_as = raw if isinstance(raw, bool) else {"true": True, "false": False}.get(str(raw))
    if read_as is None or isinstance(raw, int) is not isinstance(raw, bool):
        return None
    return TypedValue(BOOLEAN, "true" if read_as else "false", float(read_as), read_as, None)


def _as_instant(raw: str | float) -> TypedValue | None:
    if not isinstance(raw, str):
        return None
    try:
        instant = datetime.fromisoformat(raw.strip())
        if instant.tzinfo is None:
            # A day without an hour begins in UTC; an hour without a zone is no instant.
            if len(raw.strip()) > len("2026-03-02"):
                return None
            instant = instant.replace(tzinfo=UTC)
        instant = instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    text = instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return TypedValue(INSTANT, text, None, None, instant)


_READERS: Final = {
    TEXT: _as_text,
    NUMBER: _as_number,
    BOOLEAN: _as_boolean,
    INSTANT: _as_instant,
}
