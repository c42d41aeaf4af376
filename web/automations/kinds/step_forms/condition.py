"""The form of the step `condition`: one kind of rule is chosen, each has fields of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import RadioField

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, Sent, listed
from web.automations.kinds.condition_forms import CONDITION_FORMS
from web.forms import Form

_KINDS: Any = listed([(name, kind.label) for name, kind in CONDITION_FORMS.items()])


class Rule(Form):
    """The kind of rule; kinds: all there are; parts: their fields, by name."""

    condition = RadioField(_("Rule about"), choices=_KINDS, default="contact_property")
    parts: Mapping[str, Any]
    kinds: Sequence[tuple[str, KindForm]]


class ConditionForm(KindForm):
    """A branch."""

    Fields = Rule
    label = _("Branch")
    about = _("Two ways on, by a rule about the person.")
    wants = frozenset().union(*(kind.wants for _name, kind in CONDITION_FORMS.items()))
    template = "automations/kinds/_condition.html"

    def fill(
        self, config: JsonObject, choices: Choices, sent: Sent = None, prefix: str = ""
    ) -> Any:
        """Return the rule with the fields of every kind; only those of the stored one are full."""
        stored = config.get("condition") or {}
        form = super().fill(config, choices, sent, prefix)
        form.kinds = list(CONDITION_FORMS.items())
        form.parts = {
            name: kind.fill(
                stored if stored.get("kind") == name else {}, choices, sent, f"{prefix}{name}-"
            )
            for name, kind in CONDITION_FORMS.items()
        }
        return form

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Return the kind of the stored rule."""
        kind = (config.get("condition") or {}).get("kind")
        return {"condition": kind if kind in CONDITION_FORMS else "contact_property"}

    def read(self, form: Any) -> JsonObject:
        """Return the rule; None where nothing of it was filled in."""
        name = form.condition.data
        rule = CONDITION_FORMS.get(name).read(form.parts[name]) if name in form.parts else {}
        return {"condition": {"kind": name, **rule} if rule else None}

    def blame(self, form: Any, path: Sequence[str]) -> Any:
        """Return the field of the chosen kind."""
        name = form.condition.data
        if len(path) > 1 and name in form.parts:
            found = CONDITION_FORMS.get(name).blame(form.parts[name], path[1:])
            if found is not None:
                return found
        return form.condition
