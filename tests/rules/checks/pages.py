"""Checks of templates: nothing inline that a strict policy refuses; pages and fragments."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.rules.checks.source import ROOT, Source

FOLDER: Final = "templates"
# Folders whose files are neither pages nor fragments.
APART: Final = ("templates/macros/", "templates/email/")
# The shells stand on their own: base.html, and what strangers see before they sign in.
SHELLS: Final = frozenset({"templates/base.html", "templates/bare.html"})
_EXTENDS: Final = re.compile(r"{%-?\s*extends\s+[\"']([^\"']+)[\"']")
_INLINE: Final = (
    (re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE), "an inline style"),
    (re.compile(r"<style\b", re.IGNORECASE), "a style element"),
    (re.compile(r"<script\b(?![^>]*\ssrc\s*=)", re.IGNORECASE), "an inline script"),
    (re.compile(r"<[^>]*\son[a-z]+\s*=", re.IGNORECASE), "an inline handler"),
    (re.compile(r"\shx-on[:\w-]*\s*=", re.IGNORECASE), "an hx-on handler"),
    (re.compile(r"(?:href|src|action)\s*=\s*[\"']javascript:", re.IGNORECASE), "a script link"),
    (re.compile(r"\|\s*safe\b"), "an unescaped value"),
)  # fmt: skip


def templates() -> tuple[Source, ...]:
    """Return the project's templates."""
    return tuple(
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / FOLDER).rglob("*.html"))
    )


def inline_content(source: Source) -> Iterator[str]:
    """Yield what the Content-Security-Policy would refuse, and values that are not escaped."""
    if source.path.startswith("templates/email/"):
        return
    for pattern, what in _INLINE:
        for found in pattern.finditer(source.text):
            yield f"{source.text.count(chr(10), 0, found.start()) + 1}: {what}"


def misnamed(source: Source) -> Iterator[str]:
    """Yield pages that extend nothing, and fragments that extend something."""
    if source.path in SHELLS or source.path.startswith(APART):
        return
    extends = _EXTENDS.search(source.text)
    fragment = Path(source.path).name.startswith("_")
    if fragment and extends:
        yield f"a fragment extends {extends[1]}"
    if not fragment and not extends:
        yield "a page extends nothing; a fragment's name starts with _"
