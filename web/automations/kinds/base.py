"""The contract of a kind's form: drawn from a stored configuration, read back into one.

A form only draws and coerces; the kind's Config judges, and its errors land on the fields by name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from flask_babel import gettext as _
from flask_babel.speaklater import LazyString
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its types

from engine.core.db import JsonObject
from web.forms import Form

Option = tuple[str, str]
"""What is stored and what is read."""
Sent = MultiDict[str, str] | None


@dataclass(frozen=True)
class PropertyChoice:
    """A built-in field or a property. type: text, number, boolean or instant."""

    key: str
    label: str
    type: str


@dataclass(frozen=True)
class Choices:
    """What the workspace has to choose from, at most 200 of each; empty where nobody wants it."""

    templates: Sequence[Option] = ()
    topics: Sequence[Option] = ()
    properties: Sequence[PropertyChoice] = ()
    secrets: Sequence[Option] = ()
    events: Sequence[str] = ()


class KindForm:
    """Base of the forms of step, trigger and condition kinds; a kind overrides what it needs.

    label: the kind in two words; about: what it is for; wants: names of Choices it offers.
    The frame draws the exits and `next`; a form has the other fields of the kind's Config.
    """

    Fields: ClassVar[type[Form]] = Form
    label: ClassVar[LazyString]
    about: ClassVar[LazyString]
    wants: ClassVar[frozenset[str]] = frozenset()
    template: ClassVar[str] = "automations/kinds/_fields.html"

    def fill(
        self, config: JsonObject, choices: Choices, sent: Sent = None, prefix: str = ""
    ) -> Any:
        """Return the form of a configuration; never raises on an incomplete draft.

        sent: what was posted, which then stands in the fields instead.
        """
        made = self.Fields(
            formdata=sent, data=self.shown(config), prefix=prefix, meta={"csrf": False}
        )
        self.offer(made, config, choices)
        return made

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Return the data of the fields."""
        return {name: "" if value is None else value for name, value in config.items()}

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Give the fields what there is to choose from."""

    def read(self, form: Any) -> JsonObject:
        """Return the configuration that the form asks for, without the exits."""
        return {name: blank(value) for name, value in form.data.items()}

    def blame(self, form: Any, path: Sequence[str]) -> Any:
        """Return the field that a fault belongs to, or None; path: within the configuration."""
        return form._fields.get(path[0]) if path else None

    def sentence(self, config: JsonObject, at: datetime) -> str | Markup:  # noqa: ARG002 - a contract
        """Return what the configuration comes to for whoever arrives at `at`, or ''."""
        return ""


def blank(value: Any) -> Any:
    """Return None for an empty text: it means that nothing is set."""
    return None if value == "" else value


def options(offered: Iterable[Option], stored: object, nothing: object | None = None) -> list[Any]:
    """Return the choices of a select field, with the stored value even where it is gone.

    nothing: the words for no choice, where that may be made.
    """
    found = list(offered)
    if nothing is not None:
        found.insert(0, ("", str(nothing)))
    if stored and str(stored) not in {value for value, _words in found}:
        found.append((str(stored), str(_("%(name)s (no longer there)", name=stored))))
    return listed(found)


def listed(offered: Iterable[tuple[str, Any]]) -> list[Any]:
    """Return pairs of value and words as the choices of a field."""
    return [SelectChoice(value, words) for value, words in offered]


def properties(choices: Choices) -> list[Option]:
    """Return the properties of a workspace as options."""
    return [(each.key, each.label) for each in choices.properties]


def tidy(config: JsonObject, stored: JsonObject, defaults: Mapping[str, Any]) -> JsonObject:
    """Return a configuration without what is set to its default and was not stored before."""
    return {
        name: value
        for name, value in config.items()
        if name in stored or name not in defaults or value != defaults[name]
    }
