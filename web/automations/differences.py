"""What differs between two documents, in words: one line a step, its fields from old to new."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString
from sqlalchemy.orm import Session

from engine.automations.comparing import (
    ADDED,
    CHANGED,
    MOVED,
    REMOVED,
    Comparison,
    FieldChange,
    StepChange,
)
from engine.automations.graph import END, GraphStep
from engine.automations.models import HOLD
from engine.core.db import JsonObject
from web.automations import messages, reading
from web.automations.kinds.condition_forms import CONDITION_FORMS
from web.automations.kinds.step_forms import STEP_FORMS
from web.automations.kinds.steps import STEPS
from web.automations.reading import Told
from web.filters import NOTHING

_WHAT: Final[Mapping[str, tuple[str, LazyString]]] = {
    ADDED: ("go", lazy_gettext("Added")),
    REMOVED: ("stop", lazy_gettext("Removed")),
    CHANGED: ("hold", lazy_gettext("Changed")),
    MOVED: ("off", lazy_gettext("Moved")),
}
_SETTINGS: Final[Mapping[str, LazyString]] = {
    "name": lazy_gettext("Name"),
    "description": lazy_gettext("Description"),
    "on_pause": lazy_gettext("On pause"),
    "reentry": lazy_gettext("A person enters again"),
}
_LONGEST: Final = 200
_RULE: Final = "config.condition."
Titles = Mapping[str, str]
Names = Mapping[str, Mapping[str, str]] | None


@dataclass(frozen=True)
class Value:
    """One value that differs; before, after: as people read them."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class Line:
    """What became of one step. tone, word: its signal; title: what it does now, or did."""

    tone: str
    word: str
    key: str
    title: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Setting:
    """One value of a step's configuration, as people read it."""

    label: str
    value: str


def step_settings(told: Told, step: GraphStep) -> tuple[Setting, ...]:
    """Return what a step is set to, but for what its title says: its rule, a template, a topic."""
    titles = {each.key: told.title(each) for each in told.graph.steps}
    part = told.document.steps[step.index]
    # In the order of the kind: PostgreSQL keeps none.
    order = list(type(step.config).model_fields)
    names = sorted(part.config, key=lambda name: order.index(name) if name in order else 99)
    config = {name: part.config[name] for name in names}
    found = [
        _setting_of(part.type, path, value, titles)
        for path, value in (*_values(config, "config"), ("next", part.next))
        if value not in (None, "") and not path.endswith("_id") and not path.startswith(_RULE)
    ]
    return tuple(found)


def _setting_of(kind: str, path: str, value: object, titles: Titles) -> Setting:
    told = _value(kind, FieldChange(path, None, value), titles)
    return Setting(told.label, told.after)


def _values(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield the values below `path`; a list is one value."""
    if not isinstance(value, Mapping):
        yield path, value
        return
    nested = "." in path
    for name, below in sorted(value.items()) if nested else value.items():
        yield from _values(below, f"{path}.{name}")


def told(
    session: Session,
    workspace_id: int,
    documents: tuple[JsonObject, JsonObject],
    found: Comparison,
    names: tuple[Names, Names] = (None, None),
) -> dict[str, Any]:
    """Return what differs between two documents, in words: lines, values, and titles by key.

    found: the engine's comparison; names: beside the steps of either, where they were read before.
    """
    both = [
        reading.tell(session, workspace_id, document, named)
        for document, named in zip(documents, names, strict=True)
    ]
    titles = [{s.key: each.title(s) for s in each.graph.steps} if each else {} for each in both]
    triggers = [each.trigger() if each else "" for each in both]
    return {
        "lines": lines(found, titles[0], titles[1]),
        "values": settings(found, (triggers[0], triggers[1])),
        "titles": {**titles[0], **titles[1]},
    }


def lines(found: Comparison, before: Titles, after: Titles) -> tuple[Line, ...]:
    """Return what became of the steps. before, after: what they do, by key, in either document."""
    return tuple(_line(change, before, after) for change in found.steps)


def settings(found: Comparison, triggers: tuple[str, str]) -> tuple[Value, ...]:
    """Return what differs beside the steps. triggers: what starts it, in either document."""
    values = [
        Value(str(_SETTINGS[name]), _setting(name, each.before), _setting(name, each.after))
        for each in found.settings
        if (name := each.path.split(".")[0]) in _SETTINGS
    ]
    if found.trigger_changed:
        values.append(Value(str(_("Starts when")), *triggers))
    return tuple(values)


def _line(change: StepChange, before: Titles, after: Titles) -> Line:
    tone, word = _WHAT[change.what]
    key = change.key
    title = after.get(key) or before.get(key) or key
    values: list[Value] = []
    if change.what == CHANGED and before.get(key) != after.get(key):
        values.append(Value(str(_("Step")), before.get(key, key), after.get(key, key)))
    for each in change.fields:
        if not each.path.endswith("_id"):
            values.append(_value(change.type, each, {**before, **after}))
    return Line(tone, str(word), key, title, tuple(values))


def _value(kind: str, found: FieldChange, titles: Titles) -> Value:
    name = found.path.split(".")[-1]
    if name == "next" or _is_exit(kind, found.path):
        label = _("Then") if name == "next" else STEPS.get(kind).way_out(name)
        return Value(str(label), _target(found.before, titles), _target(found.after, titles))
    return Value(_label(kind, name), _told(found.before), _told(found.after))


def _is_exit(kind: str, path: str) -> bool:
    """Whether a value says where an exit leads: it stands in the config, and in no form."""
    place, _dot, name = path.rpartition(".")
    return (
        place == "config" and kind in STEP_FORMS and not hasattr(STEP_FORMS.get(kind).Fields, name)
    )


def _label(kind: str, name: str) -> str:
    """Return the words that the form of the kind has for a field, else the name itself."""
    shapes = [STEP_FORMS.get(kind)] if kind in STEP_FORMS else []
    shapes += [shape for _name, shape in CONDITION_FORMS.items()]
    for shape in shapes:
        field = getattr(shape.Fields, name, None)
        if field is not None and hasattr(field, "args"):
            words = field.args[0] if field.args else field.kwargs.get("label", name)
            return str(words)
    return name


def _target(key: object, titles: Titles) -> str:
    if key is None:
        return str(_("the next in order"))
    return str(_("End")) if key == END else titles.get(str(key), str(key))


def _setting(name: str, value: object) -> str:
    if name == "reentry":
        return messages.reentry(value)
    if name == "on_pause":
        return str(
            _("whoever becomes due waits at that step")
            if value == HOLD
            else _("whoever becomes due leaves at that step")
        )
    return _told(value)


def _told(value: Any) -> str:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
