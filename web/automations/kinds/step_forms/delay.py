"""The form of the step `delay`."""

from datetime import datetime, timedelta
from typing import Any, Final

from flask_babel import get_locale, gettext
from flask_babel import lazy_gettext as _
from markupsafe import Markup, escape
from wtforms import SelectField, StringField

from engine.automations.kinds.steps.delay import LONGEST, SECONDS
from engine.core.db import JsonObject
from engine.core.text import read_number
from web.automations.kinds.base import KindForm, listed
from web.filters import when
from web.forms import Form, trimmed

UNITS: Final[Any] = listed(
    [
        ("minutes", _("minutes")),
        ("hours", _("hours")),
        ("days", _("days")),
        ("weeks", _("weeks")),
    ]
)


class DelayFields(Form):
    """How long."""

    duration = StringField(
        _("How long"), filters=[trimmed], render_kw={"inputmode": "decimal", "maxlength": 20}
    )
    unit = SelectField(_("Unit"), choices=UNITS, default="days")


class DelayForm(KindForm):
    """A wait."""

    Fields = DelayFields
    label = _("Wait")
    about = _("Let some time pass before the next step.")
    template = "automations/kinds/_delay.html"

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Show the number as people write it."""
        length = config.get("duration")
        return {"duration": spelt(length), "unit": config.get("unit") or "days"}

    def read(self, form: Any) -> JsonObject:
        """Return length and unit; a text that spells no number is passed on to be refused."""
        return {"duration": number(form.duration.data or ""), "unit": form.unit.data}

    def sentence(self, config: JsonObject, at: datetime) -> str | Markup:
        """Say when somebody who arrives now goes on."""
        length, unit = config.get("duration"), str(config.get("unit"))
        if not isinstance(length, int | float) or unit not in SECONDS:
            return ""
        seconds = length * SECONDS[unit]
        if not 0 < seconds <= LONGEST.total_seconds():
            return ""
        until = when(at + timedelta(seconds=seconds))
        words = gettext("Whoever arrives now goes on at the earliest on %(when)s.", when="{when}")
        return escape(words).format(when=until)


def spelt(length: object) -> str:
    """Return a length as people write it, '' where there is none."""
    if not isinstance(length, int | float):
        return ""
    text = str(int(length)) if float(length).is_integer() else str(length)
    locale = get_locale()
    return text.replace(".", ",") if locale and locale.language == "de" else text


def number(text: str) -> int | float | str | None:
    """Return the length that a text spells, or the text itself to be refused."""
    if not text:
        return None
    found = read_number(text.replace(",", "."))
    if found is None:
        return text
    return int(found) if found.is_integer() else found
