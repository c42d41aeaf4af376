"""The form of the step `update_contact`: a line for each value it sets or clears, and stamps."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask_babel import lazy_gettext as _
from wtforms import (
    BooleanField,
    FieldList,
    FormField,
    SelectField,
    SelectMultipleField,
    StringField,
)
from wtforms import Form as Part
from wtforms.widgets import CheckboxInput, ListWidget

from engine.audience.models import BOOLEAN, INSTANT, NUMBER
from engine.automations.kinds.steps.update_contact import FIELDS
from engine.core.db import JsonObject
from engine.core.text import read_number
from web.automations.kinds.base import Choices, KindForm, Sent, listed, options, properties
from web.forms import Form

_NAMES: Final[Mapping[str, Any]] = {
    "first_name": _("First name"),
    "last_name": _("Last name"),
    "language": _("Language"),
    "timezone": _("Time zone"),
}
# So many empty lines stand below what is set; more come with the next save.
_SPARE: Final = 2


class Line(Part):
    """One value. clear: the person has none afterwards."""

    key = SelectField(_("Field"), validate_choice=False)
    value = StringField(_("New value"))
    clear = BooleanField(_("Clear it"))


class Changes(Form):
    """All of them. stored: as the document has them; types: of the properties; stamped: whether
    the document names stamps, even if none."""

    changes: Any = FieldList(FormField(Line), label=_("Changes"))
    stamps = SelectMultipleField(
        _("Set to the moment of this step"),
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
        validate_choice=False,
    )
    stored: Mapping[str, Any]
    types: Mapping[str, str]
    stamped: bool


class UpdateContactForm(KindForm):
    """A change of the person."""

    Fields = Changes
    label = _("Change the person")
    about = _("Set or clear fields and properties of the person, or note when they came here.")
    wants = frozenset({"properties"})
    template = "automations/kinds/_update_contact.html"

    def fill(
        self, config: JsonObject, choices: Choices, sent: Sent = None, prefix: str = ""
    ) -> Any:
        """Return a line for each change, and some empty ones."""
        form = super().fill(config, choices, sent, prefix)
        if sent is None:
            for _line in range(_SPARE):
                form.changes.append_entry()
            self.offer(form, config, choices)
        return form

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Return the lines."""
        changes: Mapping[str, Any] = config.get("changes") or {}
        return {
            "changes": [
                {"key": key, "value": _text(value), "clear": value is None}
                for key, value in sorted(changes.items())
            ],
            "stamps": list(config.get("stamps") or ()),
        }

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer what a step may change."""
        form.stored = config.get("changes") or {}
        form.types = {each.key: each.type for each in choices.properties}
        offered = [(key, str(_NAMES[key])) for key in FIELDS]
        known = {key for key, _label in offered} | {"email", "source"}
        offered += [each for each in properties(choices) if each[0] not in known]
        for line in form.changes:
            line.form.key.choices = options(offered, line.form.key.data, "–")
        form.stamped = "stamps" in config
        dates = [(each.key, each.label) for each in choices.properties if each.type == INSTANT]
        known = {key for key, _label in dates}
        gone = [options([], key)[0] for key in form.stamps.data or () if key not in known]
        form.stamps.choices = [*listed(dates), *gone]

    def read(self, form: Any) -> JsonObject:
        """Return the values by key, each of the type of its property."""
        lines = [line.form for line in form.changes if line.form.key.data]
        read = {"changes": {line.key.data: _value(form, line) for line in lines}}
        stamps = list(form.stamps.data or ())
        return {**read, "stamps": stamps} if stamps or form.stamped else read

    def blame(self, form: Any, path: Sequence[str]) -> Any:
        """Return the value of the line that the fault names."""
        if path[:1] == ["changes"] and len(path) > 1:
            for line in form.changes:
                if line.form.key.data == path[1]:
                    return line.form.value
        return super().blame(form, path)


def _value(form: Changes, line: Any) -> Any:
    if line.clear.data:
        return None
    key, text = str(line.key.data), str(line.value.data or "")
    if key in form.stored and form.stored[key] is not None and _text(form.stored[key]) == text:
        return form.stored[key]
    kind = form.types.get(key)
    if kind == BOOLEAN and text in ("true", "false"):
        return text == "true"
    number = read_number(text) if kind == NUMBER and text.strip() else None
    if number is None or abs(number) == float("inf"):
        return text
    return int(number) if number.is_integer() else number


def _text(value: object) -> str:
    if value is None:
        return ""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
