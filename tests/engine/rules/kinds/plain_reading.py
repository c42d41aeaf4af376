"""A plain reading of facts 2.2, with ECMAScript's String() and Number() written out once more."""

import math
import re
from typing import Any

MISSING = object()
JS_SPACE = r"(?:[^\S\x1c-\x1f\x85]|\ufeff)"


def js_string(value: Any) -> str:
    if value is MISSING or value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return js_float(value)
    return str(value)


def js_float(value: float) -> str:
    if value == 0:
        return "0"
    mantissa, _, power = f"{abs(value):.17e}".partition("e")
    for places in range(17):
        shortest = f"{abs(value):.{places}e}"
        if float(shortest) == abs(value):
            mantissa, _, power = shortest.partition("e")
            break
    digits = mantissa.replace(".", "").rstrip("0") or "0"
    exponent = int(power)
    sign = "-" if value < 0 else ""
    if exponent >= 21 or exponent < -6:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return sign + whole + (f".{digits[exponent + 1 :]}" if len(digits) > exponent + 1 else "")


def js_number(value: Any) -> float:
    if value is MISSING:
        return math.nan
    if not isinstance(value, str):
        return float(value or 0)
    # Python counts four separators and NEL as white space, ECMAScript does not.
    text = re.sub(rf"^{JS_SPACE}+|{JS_SPACE}+$", "", value)
    if re.fullmatch(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", text):
        whole = int(text, 0)
        return float(whole) if whole < 2**1024 - 2**970 else math.inf
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return float(text)
    spelt = {"": 0.0, "Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}
    return spelt.get(text, math.nan)


def plainly(stored: Any, operator: str, value: Any) -> bool:
    ours, theirs = js_string(stored).lower(), js_string(value).lower()
    left, right = js_number(stored), js_number(value)
    return {
        "equals": ours == theirs,
        "not_equals": ours != theirs,
        "contains": theirs in ours,
        "not_contains": theirs not in ours,
        "gt": left > right,
        "lt": left < right,
        "gte": left >= right,
        "lte": left <= right,
        "is_empty": stored is MISSING or stored == "",
        "not_empty": not (stored is MISSING or stored == ""),
        "is_true": stored is True or stored == "true",
        "is_false": stored is False or stored == "false",
    }[operator]
