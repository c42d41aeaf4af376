"""One measurement is one JSON line on stdout; the table is made of these lines."""

import json
import sys
from typing import Any

Line = dict[str, Any]


def say(line: Line) -> Line:
    """Print a line as soon as it is known, and return it."""
    print(json.dumps({name: _short(value) for name, value in line.items()}), flush=True)
    return line


def note(text: str) -> None:
    """Tell a person who waits what is going on."""
    print(text, file=sys.stderr, flush=True)


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return round(value) if abs(value) >= 100 else round(value, 3)
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    return value
