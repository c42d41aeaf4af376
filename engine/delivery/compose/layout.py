"""Layout of a template, done once when it is saved: MJML to HTML, style sheets into attributes.

Liquid must come through untouched, and both tools rewrite what they parse. So each Liquid tag
travels as a mark: a comment between elements, a bare word in texts and attributes. Where a mark
got lost or moved, right Liquid wins over tidy layout.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import css_inline
import mjml

from engine.delivery.compose.liquid import Broken

_LIQUID: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_STYLES: Final = re.compile(r"<style\b", re.IGNORECASE)
_DEEPEST: Final = 200
_ELEMENT: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
# Void elements, and those that end where the next of their kind begins.
_NEVER_NESTED: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
    | {"p", "li", "td", "th", "tr", "tbody", "thead", "tfoot", "dt", "dd", "option"}
    | {"mj-image", "mj-divider", "mj-spacer", "mj-attributes", "mj-all", "mj-class", "mj-font"}
)
# Elements whose content is text to a parser, so that a comment in it would be read aloud.
_RAW: Final = frozenset(
    {"style", "script", "title", "textarea", "mj-style", "mj-title", "mj-preview", "mj-raw"}
)


@dataclass(frozen=True)
class _Marked:
    """A source whose Liquid tags are marks. word: what the marks begin with.

    loose: a control tag stands between attributes, whose order no parser keeps.
    """

    text: str
    tags: tuple[str, ...]
    word: str
    loose: bool

    def control(self, number: int) -> bool:
        """Return whether a mark stands for a tag like `if`, not for an output."""
        return self.tags[number].startswith("{%")

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what finds the marks in what a tool made of the text."""
        mark = rf"{self.word}(\d+)z"
        return re.compile(rf"<!--\s*{mark}\s*-->|{mark}(?:=\"\")?", re.IGNORECASE)


def nested_too_deep(source: str) -> Broken | None:
    """Return where elements nest deeper than mail ever does; the tools end the process on that."""
    depth = 0
    for tag in _ELEMENT.finditer(source):
        name = tag[2].lower()
        if name in _NEVER_NESTED:
            continue
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _DEEPEST:
            line = source.count("\n", 0, tag.start()) + 1
            column = tag.start() - (source.rfind("\n", 0, tag.start()) + 1)
            return Broken("the elements are nested too deep", line, column)
    return None


def to_html(source: str) -> str | Broken:
    """Return the HTML of an MJML text, or why it has none."""
    marked = _mark(source)
    html = _mjml(marked.text)
    if not isinstance(html, Broken):
        restored = _restore(html, marked)
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
    if marked.loose:
        return html
    inliner = css_inline.CSSInliner(load_remote_stylesheets=False, keep_at_rules=True)
    try:
        inlined = inliner.inline(marked.text)
    except css_inline.InlineError:
        return html
    return _restore(inlined, marked) or html


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
    place = _Place()
    pieces, position, loose = [], 0, False
    for token in re.finditer(rf"<!--|-->|</?[a-z][a-z0-9-]*|[<>\"']|{word}(\d+)z", bare, re.I):
        pieces.append(bare[position : token.start()])
        position = token.end()
        control = token[1] is not None and tags[int(token[1])].startswith("{%")
        pieces.append(f"<!--{token[0]}-->" if control and place.state == "text" else token[0])
        loose = loose or (control and place.state == "tag")
        place.read(token[0].lower(), bare[position : position + 1])
    return _Marked("".join([*pieces, bare[position:]]), tags, word, loose)


class _Place:
    """Where a scanner stands in HTML: text, comment, tag, a quoted value, or a raw text."""

    def __init__(self) -> None:
        self.state = "text"
        self._name = ""

    def read(self, read: str, following: str) -> None:
        """Move on by what was read next; following: the character behind it."""
        if self.state == "text":
            self._in_text(read, following)
        elif self.state == "tag":
            self._in_tag(read)
        elif self._ends(read, following):
            self.state = "text" if self.state == "comment" else "tag"

    def _in_text(self, read: str, following: str) -> None:
        if read == "<!--":
            self.state = "comment"
        elif read == "<":
            self.state = "tag" if following in {"!", "?"} else "text"
        elif read.startswith("<"):
            self.state, self._name = "tag", read[1:]

    def _in_tag(self, read: str) -> None:
        if read in {'"', "'"}:
            self.state = read
        elif read == ">":
            self.state = "raw" if self._name in _RAW else "text"

    def _ends(self, read: str, following: str) -> bool:
        """Return whether a comment, a raw text or a quoted value ends here."""
        if self.state == "comment":
            return read == "-->" or (read == "<!--" and following == ">")
        if self.state == "raw" and read == f"</{self._name}":
            self._name = ""
            return True
        return self.state == read


def _restore(text: str, marked: _Marked) -> str | None:
    """Put the Liquid tags back; None where one is missing or stands among other control tags.

    An output may be repeated, since a tool repeats addresses for other mail programs.
    """
    seen = [int(mark[1] or mark[2]) for mark in marked.pattern.finditer(text)]
    numbers = range(len(marked.tags))
    control = [number for number in seen if marked.control(number)]
    if control != [number for number in numbers if marked.control(number)]:
        return None
    if _behind(seen, marked) != _behind(numbers, marked):
        return None
    return marked.pattern.sub(lambda mark: marked.tags[int(mark[1] or mark[2])], text)


def _behind(numbers: Iterable[int], marked: _Marked) -> set[tuple[int, int]]:
    """Return each mark with the number of control tags before it."""
    found, before = set(), 0
    for number in numbers:
        found.add((number, before))
        before += marked.control(number)
    return found
