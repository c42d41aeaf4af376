"""The one evaluator of mail: a template and what is known of a person give subject, HTML and text.

Pure. Preview, trial and real send come through here, so that they cannot differ (decision C13).
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any, Final

from inscriptis import get_text  # type: ignore[import-untyped]
from inscriptis.model.config import ParserConfig  # type: ignore[import-untyped]

from engine.delivery.compose.addresses import one_line
from engine.delivery.compose.guards import LONGEST_LIST, LONGEST_TEXT
from engine.delivery.compose.liquid import Broken, Liquid, parse

_KEPT: Final = 256
_DEEPEST: Final = 10
_LONGEST_SUBJECT: Final = 900
# The links of mail; the pages behind the last two come later, until then they are empty.
_LINKS: Final = {"unsubscribe_url": "", "preferences_url": "", "view_url": ""}


@dataclass(frozen=True)
class Source:
    """The texts of a template as stored. html: laid out, with Liquid. text None: derived."""

    subject: str
    html: str
    text: str | None


@dataclass(frozen=True)
class Compiled:
    """A parsed template."""

    subject: Liquid
    html: Liquid
    text: Liquid | None

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the paths that the template reads, for example `contact.first_name`."""
        parts = [self.subject, self.html, *([self.text] if self.text else [])]
        return tuple(sorted({path for part in parts for path in part.variables}))


@dataclass(frozen=True)
class Flaw:
    """Which part of a template is broken (`subject`, `html` or `text`), and how."""

    part: str
    broken: Broken


@dataclass(frozen=True)
class MailData:
    """What a template may read. properties: typed values by key; event, order: from the context.

    links: addresses by name, among unsubscribe_url, preferences_url and view_url.
    """

    contact: Mapping[str, Any] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)
    workspace: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)

    def variables(self) -> dict[str, Any]:
        """Return the data under the names of decision C13, within the bounds of the guards."""
        return {
            "contact": bounded(dict(self.contact)),
            "properties": bounded(dict(self.properties)),
            "event": bounded(self.context.get("event") or {}),
            "order": bounded(self.context.get("order") or {}),
            "workspace": dict(self.workspace),
            **_LINKS,
            **self.links,
        }


@dataclass(frozen=True)
class Rendered:
    """What a person gets to read."""

    subject: str
    html: str
    text: str


def compile_source(source: Source) -> Compiled | Flaw:
    """Return the parsed template, or its first flaw."""
    subject = parse(source.subject)
    if isinstance(subject, Broken):
        return Flaw("subject", subject)
    html = parse(source.html, html=True)
    if isinstance(html, Broken):
        return Flaw("html", html)
    text = None if source.text is None else parse(source.text)
    if isinstance(text, Broken):
        return Flaw("text", text)
    return Compiled(subject, html, text)


def render(
    compiled: Compiled, data: MailData, at: datetime, subject_override: str | None = None
) -> Rendered | Flaw:
    """Return the mail for `data`; at: what `now` means. A missing variable renders empty."""
    variables = data.variables()
    line = compiled.subject if subject_override is None else parse(subject_override)
    subject = line if isinstance(line, Broken) else line.render(variables, at)
    if isinstance(subject, Broken):
        return Flaw("subject", subject)
    html = compiled.html.render(variables, at)
    if isinstance(html, Broken):
        return Flaw("html", html)
    text = derived_text(html) if compiled.text is None else compiled.text.render(variables, at)
    if isinstance(text, Broken):
        return Flaw("text", text)
    return Rendered(one_line(subject)[:_LONGEST_SUBJECT], mended(html), mended(text))


def derived_text(html: str) -> str | Broken:
    """Return the text part of an HTML part, with the addresses of its links."""
    try:
        # The parser knows no document without an element.
        text = get_text(f"{_without_open_comment(html)}<br>", ParserConfig(display_links=True))
        return str(text).strip() + "\n"
    except (ValueError, RecursionError) as error:
        return Broken(f"no text can be derived: {type(error).__name__}")


def _without_open_comment(html: str) -> str:
    """Return `html` up to a comment that never ends; what a browser does not show is no text."""
    position = 0
    while (opened := html.find("<!--", position)) >= 0:
        position = html.find("-->", opened + 4)
        if position < 0:
            return html[:opened]
    return html


def missing_variables(compiled: Compiled, data: MailData) -> tuple[str, ...]:
    """Return the paths that the template reads and that are empty in `data`."""
    known = data.variables() | {"now": True, "today": True}
    return tuple(path for path in compiled.variables if not _found(known, path.split(".")))


def _found(value: Any, path: list[str]) -> bool:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
        if value is None or value == "":
            return False
    return True


def bounded(value: Any, depth: int = 0) -> Any:
    """Return foreign data cut to what the guards bound, so that no operator walks for ever."""
    if isinstance(value, str):
        return mended(value[:LONGEST_TEXT])
    if depth >= _DEEPEST:
        return None
    if isinstance(value, Mapping):
        # What is not there and what is null look the same to a template.
        pairs = [pair for pair in value.items() if pair[1] is not None][:LONGEST_LIST]
        return {str(key): bounded(each, depth + 1) for key, each in pairs}
    if isinstance(value, list | tuple):
        return [bounded(each, depth + 1) for each in value[:LONGEST_LIST]]
    return value


def mended(text: str) -> str:
    """Return `text` as both databases and mail can hold it: no NUL, no half characters."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


class TemplateCache:
    """Parsed templates by (template row, version); used by many threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], Compiled | Flaw] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[int, int]) -> Compiled | Flaw | None:
        """Return the parsed template, or None where it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: tuple[int, int], source: Source) -> Compiled | Flaw:
        """Parse and keep a template."""
        compiled = compile_source(source)
        with self._lock:
            self._kept[key] = compiled
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return compiled
