"""Liquid as mail needs it: parsed once, bounded, lenient about what is missing (decision C13).

Output is escaped in HTML and left alone in subject and text. Nothing here reads files or networks:
there is no loader, and the tags that would use one are gone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from liquid import BoundTemplate, Environment
from liquid.exceptions import LiquidError
from liquid.static_analysis import Variable

from engine.core.outcome import Refused, invalid
from engine.delivery.compose.guards import (
    LONGEST_LOOP,
    BoundedContext,
    bound_ranges,
    budget,
    dated,
    guarded,
    strip_html,
)

_ABROAD: Final = ("include", "render")
_LONGEST_OUTPUT: Final = 1_000
_LONGEST_TAG: Final = 10_000
_MOST_BRACKETS: Final = 20
_MOST_TAGS: Final = 5_000
_TOO_DEEP: Final = "the text is nested too deep"
_PART: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_OPENED: Final = re.compile(r"\{\{|\{%")
_VERBATIM: Final = {name: re.compile(rf"\{{%-?\s*(end)?{name}\s*-?%\}}") for name in ("raw", "doc")}


class _Bounded(BoundTemplate):
    context_class = BoundedContext


class _Environment(Environment):
    """One set of limits for save, preview and send; exceeding any of them raises LiquidError."""

    template_class = _Bounded
    loop_iteration_limit = LONGEST_LOOP
    output_stream_limit = 2_000_000
    local_namespace_limit = 500_000
    context_depth_limit = 30

    def __init__(self, *, autoescape: bool) -> None:
        super().__init__(autoescape=autoescape)
        for name in _ABROAD:
            del self.tags[name]
        self.filters["strip_html"] = strip_html
        self.filters["date"] = dated(self.filters["date"])
        for name, filter_ in self.filters.items():
            self.filters[name] = guarded(name, filter_)


bound_ranges()
_HTML: Final = _Environment(autoescape=True)
_PLAIN: Final = _Environment(autoescape=False)


@dataclass(frozen=True)
class Broken:
    """Why a text does not parse or render. line: from 1, column: from 0; both 0 where unknown."""

    message: str
    line: int = 0
    column: int = 0

    def refused(self, pointer: str) -> Refused:
        """Return the refusal of an input whose text at `pointer` is broken."""
        return invalid(
            "template_broken", pointer, message=self.message, line=self.line, column=self.column
        )


@dataclass(frozen=True)
class Liquid:
    """A parsed text. variables: what it reads, as dotted paths such as `contact.first_name`."""

    template: BoundTemplate
    nodes: int
    variables: tuple[str, ...]

    def render(self, data: Mapping[str, Any], at: datetime) -> str | Broken:
        """Return the text for `data`; a missing variable renders empty."""
        try:
            with budget(at, self.nodes):
                return self.template.render({**data, "now": at, "today": at.date()})
        except LiquidError as error:
            return _broken(error)
        except RecursionError:
            return Broken(_TOO_DEEP)
        except UnicodeError:
            return Broken("half a character is put out")


def parse(source: str, *, html: bool = False) -> Liquid | Broken:
    """Return the parsed text, or why it does not parse. html: escape what is put out."""
    flaw = _unclosed(source)
    if flaw is not None:
        return flaw
    environment = _HTML if html else _PLAIN
    try:
        template = environment.from_string(source)
        # Walks every branch: nesting and unknown filters show here and not at the first mail.
        found = template.analyze(include_partials=False)
    except LiquidError as error:
        return _placed(_broken(error), source, environment)
    except RecursionError:
        return Broken(_TOO_DEEP)
    for name, spans in found.filters.items():
        if name not in environment.filters:
            return _at(f"unknown filter '{name}'", source, spans[0].index)
    return Liquid(template, len(_OPENED.findall(source)), _paths(found.globals))


def _unclosed(source: str) -> Broken | None:
    """Find what never closes or nests too deep; the library takes quadratic time on either."""
    position, tags = 0, 0
    while (opened := _OPENED.search(source, position)) is not None:
        output = opened[0] == "{{"
        longest = _LONGEST_OUTPUT if output else _LONGEST_TAG
        end = source.find("}}" if output else "%}", opened.end(), opened.end() + longest)
        if end < 0:
            return _at(f"'{opened[0]}' is not closed", source, opened.start())
        if source.count("[", opened.end(), end) > _MOST_BRACKETS:
            return _at(_TOO_DEEP, source, opened.start())
        tags += 1
        if tags > _MOST_TAGS:
            return _at("there are too many tags", source, opened.start())
        position = end + 2
    for name, pattern in _VERBATIM.items():
        found = list(pattern.finditer(source))
        if found and found[-1][1] is None:
            return _at(f"'{name}' is not closed", source, found[-1].start())
    return None


def _paths(found: Mapping[str, list[Variable]]) -> tuple[str, ...]:
    paths = {
        ".".join(str(segment) for segment in variable.segments)
        for variables in found.values()
        for variable in variables
    }
    return tuple(sorted(paths))


def _broken(error: LiquidError) -> Broken:
    try:
        place = error.context()
    except ValueError:
        place = None
    message = str(error.args[0]) if error.args else type(error).__name__
    if isinstance(error.__cause__, RecursionError):
        message = _TOO_DEEP
    line, column = place[:2] if place else (0, 0)
    return Broken(message[:300], line, column)


def _placed(broken: Broken, source: str, environment: Environment) -> Broken:
    """Find the place of an error that came without one: the first part that fails by itself."""
    if broken.line:
        return broken
    for part in _PART.finditer(source):
        try:
            environment.from_string(part[0])
        except LiquidError as error:
            if _broken(error).message == broken.message:
                return _at(broken.message, source, part.start())
    return broken


def _at(message: str, source: str, index: int) -> Broken:
    before = source[:index]
    return Broken(message, before.count("\n") + 1, index - (before.rfind("\n") + 1))
