"""Reads a JSON body strictly: size, UTF-8, syntax, equal keys, and values no database can store.

Owns what is judged before any schema; leaves the schema to the models of each area.
"""

import json
import math
from collections.abc import Iterator
from typing import Any, Final

from flask import Request

from engine.core.outcome import Problem, Refused, below
from engine.core.text import storable

LIMIT: Final = 1_048_576
"""Bytes of a JSON body."""

# A client that writes while we refuse would see a broken connection; so much is read and dropped.
DRAIN: Final = 16 * LIMIT
DEPTH: Final = 64
_CHUNK: Final = 65_536
_LONGEST_INTEGER: Final = 20
_GREATEST_INTEGER: Final = 2**63 - 1


class _Unreadable(ValueError):
    """The text is no JSON as we accept it; `code` says why, `name` names the key."""

    def __init__(self, code: str, name: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.name = name


def read_bytes(request: Request) -> bytes | Refused:
    """Return the body, or the refusal `body_too_large` when it has more than LIMIT bytes."""
    body = bytearray()
    stream = request.environ["wsgi.input"]
    announced = request.content_length
    left = DRAIN if announced is None else min(announced, DRAIN)
    if announced is None and not request.environ.get("wsgi.input_terminated"):
        left = 0
    while left > 0 and (chunk := stream.read(min(_CHUNK, left))):
        left -= len(chunk)
        if len(body) <= LIMIT:
            body += chunk
    if len(body) > LIMIT or (announced or 0) > LIMIT:
        return Refused("body_too_large", "too_large", params={"limit": LIMIT})
    return bytes(body)


def read_json(body: bytes) -> Any | Refused:
    """Return the value that `body` spells.

    Refuses what is no UTF-8 or no JSON (kind `malformed`), and texts and numbers that no database
    stores: NUL, halves of surrogate pairs, numbers beyond 64 bits (kind `invalid`, with pointers).
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return Refused("not_utf8", "malformed", params={"position": error.start})
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer
        )
    except _Unreadable as error:
        return Refused(error.code, "malformed", params={"name": error.name})
    except json.JSONDecodeError as error:
        return Refused(
            "not_json", "malformed", params={"line": error.lineno, "column": error.colno}
        )
    except RecursionError:
        return Refused("nested_too_deep", "malformed", params={"limit": DEPTH})
    problems = tuple(_unstorable(value, "", 0))
    return Refused("invalid_input", "invalid", problems) if problems else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Unreadable("equal_keys", key)
            seen.add(key)
    return found


def _constant(name: str) -> Any:
    raise _Unreadable("not_a_json_number", name)


def _integer(text: str) -> int | float:
    # The interpreter refuses to read numbers of thousands of digits; the check below names them.
    return int(text) if len(text) <= _LONGEST_INTEGER else math.inf


def _unstorable(value: Any, pointer: str, depth: int) -> Iterator[Problem]:
    if depth > DEPTH:
        yield Problem(pointer, "nested_too_deep", {"limit": DEPTH})
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unstorable(item, below(pointer, index), depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            inside = below(pointer, key)
            if not storable(key):
                yield Problem(inside, "unstorable_text")
            yield from _unstorable(item, inside, depth + 1)
    elif code := _fault(value):
        yield Problem(pointer, code)


def _fault(value: Any) -> str | None:
    if isinstance(value, str):
        return None if storable(value) else "unstorable_text"
    if isinstance(value, float):
        return None if math.isfinite(value) else "number_too_large"
    if isinstance(value, int):
        return None if abs(value) <= _GREATEST_INTEGER else "number_too_large"
    return None
