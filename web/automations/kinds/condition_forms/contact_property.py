"""The form of the condition `contact_property`: property, operator by its type, value."""

import json
from collections.abc import Mapping
from typing import Any, Final

from flask_babel import lazy_gettext as _
from wtforms import SelectField, StringField

from engine.audience.models import BOOLEAN, INSTANT, NUMBER, TEXT
from engine.core.db import JsonObject
from engine.core.text import read_number
from engine.rules.kinds.contact_property import UNARY
from web.automations.kinds.base import Choices, KindForm, listed, options, properties
from web.forms import Form

# Every operator with its words and the types of property it makes sense for.
OPERATORS: Final[Mapping[str, tuple[Any, frozenset[str]]]] = {
    "equals": (_("is"), frozenset({TEXT, NUMBER, INSTANT})),
    "not_equals": (_("is not"), frozenset({TEXT, NUMBER, INSTANT})),
    "contains": (_("contains"), frozenset({TEXT})),
    "not_contains": (_("does not contain"), frozenset({TEXT})),
    "gt": (_("is greater than"), frozenset({TEXT, NUMBER})),
    "lt": (_("is less than"), frozenset({TEXT, NUMBER})),
    "gte": (_("is at least"), frozenset({TEXT, NUMBER})),
    "lte": (_("is at most"), frozenset({TEXT, NUMBER})),
    "is_true": (_("is true"), frozenset({TEXT, BOOLEAN})),
    "is_false": (_("is false"), frozenset({TEXT, BOOLEAN})),
    "not_empty": (_("has a value"), frozenset({TEXT, NUMBER, BOOLEAN, INSTANT})),
    "is_empty": (_("has no value"), frozenset({TEXT, NUMBER, BOOLEAN, INSTANT})),
}
_SUITS: Final = json.dumps({name: sorted(types) for name, (_words, types) in OPERATORS.items()})
_CHOICES: Any = listed([(name, words) for name, (words, _types) in OPERATORS.items()])


class PropertyFields(Form):
    """Property, operator, value.

    stored: the value as the document has it, of the property `was`; types: by property; known,
    suits: types, and what each operator suits, as JSON for the script that offers what fits.
    """

    field = SelectField(_("Property"))
    operator = SelectField(_("Compared how"), choices=_CHOICES, default="equals")
    value = StringField(_("Value"), render_kw={"maxlength": 10_000, "autocomplete": "off"})
    stored: Any
    was: str | None
    types: Mapping[str, str]
    known: str
    suits: str


class ContactPropertyForm(KindForm):
    """A property compared with a value."""

    Fields = PropertyFields
    label = _("Property")
    about = _("A property of the person compared with a value.")
    wants = frozenset({"properties"})
    template = "automations/kinds/_contact_property.html"

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Show the value as text."""
        return {**super().shown(config), "value": _text(config.get("value"))}

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the properties."""
        form.stored, form.was = config.get("value"), config.get("field")
        form.types = {each.key: each.type for each in choices.properties}
        form.known, form.suits = json.dumps(form.types), _SUITS
        offered = properties(choices)
        form.field.choices = options(offered, config.get("field"), _("Choose a property"))

    def read(self, form: Any) -> JsonObject:
        """Return the rule; nothing where no property was chosen. A unary operator has no value."""
        if not form.field.data:
            return {}
        rule = {"field": form.field.data, "operator": form.operator.data}
        if form.operator.data in UNARY:
            return rule
        return {**rule, "value": _value(form)}


def _value(form: PropertyFields) -> Any:
    text = form.value.data or ""
    same = form.field.data == form.was and _text(form.stored) == text
    if form.stored is not None and same:
        return form.stored
    kind = form.types.get(form.field.data)
    number = read_number(text) if kind == NUMBER and text.strip() else None
    if number is None or abs(number) == float("inf"):
        return text
    return int(number) if number.is_integer() and abs(number) < 10**15 else number


def _text(value: object) -> str:
    if value is None:
        return ""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
