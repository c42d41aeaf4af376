"""The form of the trigger `date_reached`."""

import re
from typing import Any, Final

from flask_babel import lazy_gettext as _
from wtforms import BooleanField, SelectField, StringField
from wtforms.widgets import TimeInput

from engine.audience.models import INSTANT
from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, options
from web.forms import Form, trimmed

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,4}")


class DateFields(Form):
    """Which date, and when about it."""

    property_key = SelectField(_("Date"))
    offset_days = StringField(
        _("Days after it"),
        filters=[trimmed],
        description=_("0 for the day itself, -7 for a week before it."),
        render_kw={"maxlength": 5},
    )
    time = StringField(
        _("Time of day"),
        widget=TimeInput(),
        description=_("In the time zone of the person, else in that of the workspace."),
    )
    yearly = BooleanField(_("Every year"))


class DateReachedForm(KindForm):
    """A date that comes."""

    Fields = DateFields
    label = _("Date")
    about = _("A date of the person comes: a birthday, the end of a trial, a renewal.")
    wants = frozenset({"properties"})
    template = "automations/kinds/_date_reached.html"

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Show what a new one begins with."""
        return {"offset_days": "0", "time": "09:00", **super().shown(config)}

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the properties that are dates."""
        offered = [(each.key, each.label) for each in choices.properties if each.type == INSTANT]
        stored = config.get("property_key")
        form.property_key.choices = options(offered, stored, _("Choose a date"))

    def read(self, form: Any) -> JsonObject:
        """Return the configuration; what is no whole number is passed on to be refused."""
        days = form.offset_days.data or "0"
        whole = bool(_WHOLE.fullmatch(days))
        return {**super().read(form), "offset_days": int(days) if whole else days}
