"""A file on its way in: reading it, and what the draft that it would become is and lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_babel.speaklater import LazyString
from sqlalchemy.orm import Session

from engine.automations import checking, service
from engine.automations.document import MAX_STEPS, Document, read_document
from engine.automations.exporting import Name, Opened, open_export
from engine.automations.families import PROPERTY, SECRET, TEMPLATE, TOPIC
from engine.automations.importing import mapped, preview_import
from engine.core.db import JsonObject
from engine.core.outcome import Problem, Refused
from web.api import bodies
from web.api import messages as spoken
from web.automations import messages, offering, reading
from web.automations.kinds.base import Choices
from web.automations.reading import Told

# Fits into one form with room to spare (web.factory.LARGEST_FORM, and werkzeug's half a megabyte
# for one field).
LARGEST: Final = 400_000
_MOST_FAULTS: Final = 20
# Each has a list of choices; who has more fills the rest in in the editor.
_MOST_GAPS: Final = 50
_MOST_LEFT_OUT: Final = 100
_LONGEST: Final = 200
_BOM: Final = b"\xef\xbb\xbf"
_FAMILIES: Final[Mapping[str, LazyString]] = {
    TEMPLATE: _l("Template"),
    TOPIC: _l("Topic"),
    PROPERTY: _l("Property"),
    SECRET: _l("Secret"),
}
# Family → what of the workspace can stand in for it (web.automations.offering).
_WANTS: Final[Mapping[str, frozenset[str]]] = {
    TEMPLATE: frozenset({"templates"}),
    TOPIC: frozenset({"topics"}),
    PROPERTY: frozenset({"properties"}),
    SECRET: frozenset({"signing", "addresses"}),
}
_REASONS: Final[Mapping[str, LazyString]] = {
    "file_empty": _l("There is nothing in it. Choose a file, or paste its text."),
    "file_too_large": _l("It is too large: at most %(limit)s kB are read."),
    "not_utf8": _l("It is no text that can be read (UTF-8)."),
    "not_json": _l("It is no JSON: something is wrong in line %(line)s, column %(column)s."),
    "not_a_json_number": _l("It is no JSON: %(name)s is no JSON number."),
    "equal_keys": _l("The key “%(name)s” stands twice in one object, so it has no clear meaning."),
    "nested_too_deep": _l("It is nested deeper than %(limit)s levels."),
    "invalid_input": _l("It holds values that cannot be kept."),
    "invalid_document": _l("It cannot become a draft. This is wrong with it:"),
}


@dataclass(frozen=True)
class Gap:
    """Something that the file names and this workspace has not.

    field: of the form; kind: in a word; name: as the file says, else its id; where: the steps that
    need it; options: what can stand in for it, as id and name; chosen: one of them, or ''.
    """

    field: str
    kind: str
    name: str
    where: Sequence[str]
    options: Sequence[tuple[str, str]]
    chosen: str


@dataclass(frozen=True)
class Preview:
    """What the draft would be. document: as it would be created, with the chosen stand-ins.

    more: how many further gaps are left open; problems, warnings: what a check of it finds;
    left_out: what the file does not hold, in words.
    """

    document: JsonObject
    told: Told
    gaps: tuple[Gap, ...]
    more: int
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Faults:
    """Why a file was refused. lines: each fault with its place in the file; more: beyond them."""

    words: str
    lines: tuple[tuple[str, str], ...] = ()
    more: int = 0


def read(sent: bytes) -> Opened | Refused:
    """Return what a file holds, or why it is none."""
    text = sent.removeprefix(_BOM)
    if not text.strip():
        return Refused("file_empty", "invalid")
    if len(text) > LARGEST:
        return Refused("file_too_large", "invalid", params={"limit": LARGEST // 1_000})
    value = bodies.read_json(text)
    return value if isinstance(value, Refused) else open_export(value)


def faults(refused: Refused) -> Faults:
    """Return a refusal in words."""
    words = _REASONS.get(refused.reason)
    told = str(words) % dict(refused.params) if words else messages.reason(refused)
    lines = [(fault.pointer or "/", _fault(fault)) for fault in refused.problems]
    return Faults(told, tuple(lines[:_MOST_FAULTS]), max(0, len(lines) - _MOST_FAULTS))


def preview(
    session: Session, workspace_id: int, opened: Opened, sent: Mapping[str, str]
) -> Preview | Refused:
    """Return what would become of a file with the stand-ins that were sent.

    Where nothing was sent yet, what has the same name here stands in. A bounded number of
    statements: for each family and each step kind in use.
    """
    steps = opened.raw.get("steps") if isinstance(opened.raw, dict) else None
    if isinstance(steps, list) and len(steps) > MAX_STEPS:
        return Refused("too_many_steps", "invalid")
    found = preview_import(session, workspace_id, opened.raw)
    if isinstance(found, Refused):
        return found
    groups: dict[Name, list[str]] = {}
    for each in found[1]:
        groups.setdefault((each.family, each.id), []).append(each.pointer)
    wanted = frozenset[str]().union(*(_WANTS[family] for family, _id in groups))
    choices = offering.read(session, workspace_id, wanted)
    gaps = [
        _gap(f"choice-{index}", name, opened, choices, sent)
        for index, name in enumerate(groups)
        if index < _MOST_GAPS
    ]
    stand_ins = {
        pointer: gaps[index].chosen or None if index < _MOST_GAPS else None
        for index, pointers in enumerate(groups.values())
        for pointer in pointers
    }
    document = mapped(service.as_document(found[0]), stand_ins)
    sound = read_document(document)
    if isinstance(sound, Refused):
        return sound
    told = reading.tell(session, workspace_id, document)
    if told is None:
        return Refused("invalid_document", "invalid")
    placed = [
        replace(gap, where=list(dict.fromkeys(_place(told, pointer) for pointer in pointers)))
        for gap, pointers in zip(gaps, groups.values(), strict=False)
    ]
    return Preview(
        document,
        told,
        tuple(placed),
        max(0, len(groups) - _MOST_GAPS),
        tuple(_told(told, each) for each in _blocking(session, workspace_id, sound)),
        tuple(_told(told, each) for each in checking.warnings(session, workspace_id, sound)),
        tuple(_kept_back(told, pointer) for pointer in opened.left_out[:_MOST_LEFT_OUT]),
    )


def _gap(field: str, name: Name, opened: Opened, choices: Choices, sent: Mapping[str, str]) -> Gap:
    family, id_ = name
    options = _options(family, opened.kinds.get(name), choices)
    said = opened.names.get(name, "")
    alike = [value for value, title in options if said and title.casefold() == said.casefold()]
    chosen = sent.get(field, alike[0] if len(alike) == 1 else "")
    known = chosen in {value for value, _title in options}
    return Gap(
        field,
        str(_FAMILIES[family]),
        (said or id_)[:_LONGEST],
        (),
        options,
        chosen if known else "",
    )


def _options(family: str, kind: str | None, choices: Choices) -> Sequence[tuple[str, str]]:
    """Return what can stand in; kind: of a property or secret, where the file says so."""
    if family == TEMPLATE:
        return choices.templates
    if family == TOPIC:
        return choices.topics
    if family == SECRET:
        return choices.secrets
    fits = [each for each in choices.properties if kind in (None, each.type)]
    return [(each.key, each.label) for each in fits]


def _blocking(session: Session, workspace_id: int, sound: Document) -> Sequence[Problem]:
    """Return what the draft could not go live with."""
    found = checking.errors(session, workspace_id, sound)
    if not checking.trigger_complete(sound):
        found = [Problem("/trigger/config", "invalid_trigger_config"), *found]
    return found if sound.steps else [Problem("/steps", "no_steps"), *found]


def _told(told: Told, found: Problem) -> str:
    """Return a finding with its place in words."""
    if found.code in messages.REASONS:
        return messages.reason(Refused(found.code, params=found.params))
    return f"{_place(told, found.pointer)}: {messages.problem(found)}"


def _place(told: Told, pointer: str) -> str:
    """Return where a pointer leads, in words: a step by number and title, or the start."""
    parts = pointer.split("/")
    index = int(parts[2]) if len(parts) > 2 and parts[2].isascii() and parts[2].isdigit() else -1
    step = told.graph.at(index) if parts[1:2] == ["steps"] else None
    if step is None:
        return str(_("Start"))
    return f"{step.index + 1}. {told.title(step)}"


def _kept_back(told: Told, pointer: str) -> str:
    last = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    return f"{_place(told, pointer)}: {last[:_LONGEST]}"


def _fault(found: Problem) -> str:
    if found.code in messages.PROBLEMS or found.code not in spoken.FAULTS:
        return messages.problem(found)
    return spoken.fault(Problem(found.pointer, spoken.SCHEMA + found.code, found.params))
