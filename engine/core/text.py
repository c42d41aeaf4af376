"""Reading text: folding for comparison and numbers as the condition rules want them."""

import re
from typing import Final

_DECIMAL: Final = re.compile(
    r"^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)$", re.ASCII
)
_RADIX: Final = re.compile(r"^0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)$", re.ASCII)
# What ECMAScript's Number() strips: white space and line terminators, BOM included.
_JS_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def fold(value: str) -> str:
    """Return `value` in lower case for comparison (facts 2.2); nothing is trimmed."""
    return value.lower()


def normalise_email(value: str) -> str:
    """Return an address as identity key: trimmed and in lower case (facts 3.1)."""
    return value.strip().lower()


def storable(value: str) -> bool:
    """Return whether both databases can hold `value`: no NUL, no half of a surrogate pair."""
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)


def read_number(value: str) -> float | None:
    """Return the number that `value` spells, or None where it spells none (facts 2.2).

    Follows ECMAScript's Number(): surrounding white space is ignored, '' is 0, '0x10' is 16,
    '1e3' is 1000, 'Infinity' is infinite; '1_000', 'nan' and 'inf' are no numbers.
    """
    text = value.strip(_JS_SPACE)
    if text == "":
        return 0.0
    if _RADIX.match(text):
        try:
            return float(int(text, 0))
        except OverflowError:
            return float("inf")
    if _DECIMAL.match(text):
        return float(text)
    if text.lstrip("+-") == "Infinity" and len(text) <= len("+Infinity"):
        return float("-inf") if text.startswith("-") else float("inf")
    return None
