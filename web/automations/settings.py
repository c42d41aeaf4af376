"""The forms of what an automation has beside its steps: its settings, and the kind of trigger."""

from collections.abc import Mapping
from typing import Any, Final

from flask_babel import gettext
from flask_babel import lazy_gettext as _
from wtforms import IntegerField, RadioField, StringField, TextAreaField
from wtforms.validators import InputRequired, Length, Optional

from engine.automations.document import MAX_NAME
from engine.core.db import JsonObject
from web.automations.kinds.base import Sent, listed
from web.automations.kinds.trigger_forms import TRIGGER_FORMS
from web.forms import Form, trimmed

_DAYS: Final = "days"
_MOST_DAYS: Final = 3_650
_REENTRY: Any = listed(
    [
        ("after_end", _("After the end of the run before")),
        ("once", _("Never: once in a lifetime")),
        (_DAYS, _("At most once in some days")),
    ]
)
_ON_PAUSE: Any = listed(
    [
        ("cancel", _("Whoever becomes due leaves at that step")),
        ("hold", _("Whoever becomes due waits at that step")),
    ]
)
_TRIGGERS: Any = listed([(name, kind.label) for name, kind in TRIGGER_FORMS.items()])


class NewForm(Form):
    """What an automation begins with."""

    name = StringField(_("Name"), [InputRequired(), Length(max=MAX_NAME)], filters=[trimmed])
    trigger = RadioField(_("Starts with"), choices=_TRIGGERS, default="event_received")

    def document(self) -> JsonObject:
        """Return the document of the new draft."""
        trigger = {"type": self.trigger.data, "config": {}}
        return {"name": self.name.data, "trigger": trigger, "steps": []}


class TriggerForm(Form):
    """The kind of trigger; parts: the fields of every kind, by its name."""

    type = RadioField(_("Starts with"), choices=_TRIGGERS)
    parts: Mapping[str, Any]


class SettingsForm(Form):
    """Name, description, whether people enter again, what a pause does."""

    name = StringField(_("Name"), [InputRequired(), Length(max=MAX_NAME)], filters=[trimmed])
    description = TextAreaField(_("Description"), [Length(max=5_000)], filters=[trimmed])
    reentry = RadioField(_("A person enters again"), choices=_REENTRY, default="after_end")
    days = IntegerField(_("Days"), [Optional()])
    on_pause = RadioField(_("On pause"), choices=_ON_PAUSE, default="cancel")

    def validate(self, extra_validators: Any = None) -> bool:
        """Ask for the number where people enter again after some days."""
        sound = bool(super().validate(extra_validators))
        days = self.days.data
        if self.reentry.data != _DAYS or (days is not None and 1 <= days <= _MOST_DAYS):
            return sound
        self.days.errors = (gettext("Say after how many days, from 1 to 3,650."),)
        return False

    @classmethod
    def of(cls, document: JsonObject, sent: Sent) -> "SettingsForm":
        """Return the form of a document; sent: what was posted, which then stands in it."""
        rule = document["reentry"]
        in_days = isinstance(rule, Mapping)
        data = {
            "name": document["name"],
            "description": document.get("description") or "",
            "reentry": _DAYS if in_days else rule,
            "days": rule["days"] if in_days else None,
            "on_pause": document["on_pause"],
        }
        return cls(formdata=sent, data=data, meta={"csrf": False})

    def wanted(self) -> dict[str, Any]:
        """Return the settings that the form asks for, as the engine takes them."""
        chosen = self.reentry.data
        return {
            "name": self.name.data or "",
            "description": self.description.data or None,
            "on_pause": self.on_pause.data,
            "reentry": {_DAYS: self.days.data} if chosen == _DAYS else chosen,
        }
