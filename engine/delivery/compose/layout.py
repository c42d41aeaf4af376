"""Layout of a template, done once when it is saved: MJML to HTML, style sheets into attributes.

Liquid must come through untouched, and both tools rewrite what they parse. So each Liquid tag
travels as a mark: a comment between elements, a bare word in texts and attributes. Where a mark
got lost or moved, right Liquid wins over tidy layout.
"""

import re
from dataclasses import dataclass
from typing import Final

import css_inline
import mjml

from engine.delivery.compose.liquid import Broken

_LIQUID: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_STYLES: Final = re.compile(r"<style\b", re.IGNORECASE)
# Comments, raw texts and tags; whatever lies between them is text.
_PARTS: Final = re.compile(
    r"<!--.*?-->|<(style|script|title|textarea|mj-style|mj-title|mj-preview|mj-raw)\b.*?</\1\s*>"
    r"|<[!/?a-z](?:\"[^\"]*\"|'[^']*'|[^'\">])*>",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True)
class _Marked:
    """A source whose Liquid tags are marks. word: what the marks begin with."""

    text: str
    tags: tuple[str, ...]
    word: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what finds the marks in what a tool made of the text."""
        mark = rf"{self.word}(\d+)z"
        return re.compile(rf"<!--\s*{mark}\s*-->|{mark}(?:=\"\")?", re.IGNORECASE)


def to_html(source: str) -> str | Broken:
    """Return the HTML of an MJML text, or why it has none."""
    marked = _mark(source)
    html = _mjml(marked.text)
    if not isinstance(html, Broken):
        restored = _restore(html, marked, strict=False)
        if restored is not None:
            return restored
    # Some place takes no comment: the tool leaves Liquid in texts and attributes alone by itself.
    plain = _mjml(source)
    if isinstance(plain, Broken):
        return plain
    lost = next((tag for tag in marked.tags if tag not in plain), None)
    if lost is not None:
        line = source[: source.index(lost)].count("\n") + 1
        return Broken(f"{lost[:80]} would be lost here; put it inside <mj-raw> or a text", line)
    return plain


def with_inline_styles(html: str) -> str:
    """Return `html` with its style sheets moved into style attributes; at-rules stay.

    Nothing is fetched. Text without a style sheet comes back as it is, and so does one whose Liquid
    the inlining would break, for example Liquid inside the style sheet.
    """
    if not _STYLES.search(html):
        return html
    marked = _mark(html)
    inliner = css_inline.CSSInliner(load_remote_stylesheets=False, keep_at_rules=True)
    try:
        inlined = inliner.inline(marked.text)
    except css_inline.InlineError:
        return html
    return _restore(inlined, marked, strict=True) or html


def _mjml(source: str) -> str | Broken:
    try:
        return str(mjml.mjml2html(source, disable_comments=False))
    except (ValueError, OSError) as error:
        return Broken(" ".join(str(error).split())[:300])


def _mark(source: str) -> _Marked:
    word = "lqd"
    while word in source.lower():
        word += "d"
    tags = tuple(match[0] for match in _LIQUID.finditer(source))
    numbers = iter(range(len(tags)))
    bare = _LIQUID.sub(lambda _match: f"{word}{next(numbers)}z", source)
    pieces, position = [], 0
    for part in _PARTS.finditer(bare):
        pieces += [_commented(bare[position : part.start()], word, tags), part[0]]
        position = part.end()
    pieces.append(_commented(bare[position:], word, tags))
    return _Marked("".join(pieces), tags, word)


def _commented(text: str, word: str, tags: tuple[str, ...]) -> str:
    """Turn marks of control tags in a text into comments, which may stand in a table as well."""
    return re.sub(
        rf"{word}(\d+)z",
        lambda mark: f"<!--{mark[0]}-->" if tags[int(mark[1])].startswith("{%") else mark[0],
        text,
    )


def _restore(text: str, marked: _Marked, *, strict: bool) -> str | None:
    """Put the Liquid tags back; None where marks are missing, doubled or out of order.

    strict: every mark stands exactly where it stood; else only control tags have to, since a tool
    may repeat an address for another mail program.
    """
    seen = [int(mark[1] or mark[2]) for mark in marked.pattern.finditer(text)]
    if strict:
        right = seen == list(range(len(marked.tags)))
    else:
        control = [number for number in seen if marked.tags[number].startswith("{%")]
        wanted = [number for number, tag in enumerate(marked.tags) if tag.startswith("{%")]
        right = control == wanted and set(seen) == set(range(len(marked.tags)))
    if not right:
        return None
    return marked.pattern.sub(lambda mark: marked.tags[int(mark[1] or mark[2])], text)
