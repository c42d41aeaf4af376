"""The condition `contact_property` in words."""

from collections.abc import Mapping
from typing import Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString

from engine.core.text import read_number
from engine.rules.kinds import Description
from web.automations.kinds.conditions.base import ConditionWords, Names

OPERATORS: Final[Mapping[str, LazyString]] = {
    "equals": lazy_gettext("%(field)s is “%(value)s”"),
    "not_equals": lazy_gettext("%(field)s is not “%(value)s”"),
    "contains": lazy_gettext("%(field)s contains “%(value)s”"),
    "not_contains": lazy_gettext("%(field)s does not contain “%(value)s”"),
    "gt": lazy_gettext("%(field)s is greater than %(value)s"),
    "lt": lazy_gettext("%(field)s is less than %(value)s"),
    "gte": lazy_gettext("%(field)s is at least %(value)s"),
    "lte": lazy_gettext("%(field)s is at most %(value)s"),
    "is_empty": lazy_gettext("%(field)s has no value"),
    "not_empty": lazy_gettext("%(field)s has a value"),
    "is_true": lazy_gettext("%(field)s is true"),
    "is_false": lazy_gettext("%(field)s is false"),
}
# What holds for a missing value, and what compares numbers.
_OPEN: Final = frozenset({"not_equals", "not_contains"})
_NUMERIC: Final = frozenset({"gt", "lt", "gte", "lte"})


class ContactPropertyWords(ConditionWords):
    """A property compared with a value."""

    def rule(self, asked: Description, topics: Names) -> str:  # noqa: ARG002 - a contract
        """Return, for example, “plan is “pro””."""
        return str(OPERATORS[asked.operator]) % {"field": asked.field, "value": asked.value or ""}

    def note(self, asked: Description) -> str:
        """Say where people without a value go, for the rules that hold for them (facts 2.2)."""
        return str(_("True also where there is no value.")) if asked.operator in _OPEN else ""

    def found(self, asked: Description, value: str | None) -> str:
        """Return the stored value; an empty text is told apart from none, and what is no number."""
        if value == "":
            return str(_("an empty text"))
        if value is not None and asked.operator in _NUMERIC and read_number(value) is None:
            return str(_("%(value)s, which is no number", value=value))
        return super().found(asked, value)
