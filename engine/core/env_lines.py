"""Whether a settings file says what its writer meant: every line is name=value, or a comment.

The library that reads the file passes over any other line; a setting would be lost in silence.
"""

import re
from typing import Final

_ENTRY: Final = re.compile(
    r"""
    [^\S\n]*
    (?:
        \#[^\n]*
        | (?:export[^\S\n]+)? [^=\#\s]+ [^\S\n]* = [^\S\n]*
          (?:
              (?: '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" ) [^\S\n]* (?:\#[^\n]*)?
              | (?!['"]) [^\n]*
          )
    )?
    (?:\n|\Z)
    """,
    re.DOTALL | re.VERBOSE,
)


def first_fault(text: str) -> int | None:
    """Return the number of the first line that is no name=value, counted from 1; None if none."""
    place = 0
    while place < len(text):
        entry = _ENTRY.match(text, place)
        if entry is None:
            return text.count("\n", 0, place) + 1
        place = entry.end()
    return None
