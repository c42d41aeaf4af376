"""The form of the step `wait_until`: an event with a limit, or hours of the week."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from babel.dates import get_day_names
from flask_babel import get_locale, get_timezone, gettext
from flask_babel import lazy_gettext as _
from markupsafe import Markup, escape
from pydantic import ValidationError
from wtforms import RadioField, SelectField, SelectMultipleField, StringField
from wtforms.validators import Length
from wtforms.widgets import CheckboxInput, ListWidget, TimeInput

from engine.automations import local_time
from engine.automations.kinds.steps.wait_until import EVENT, WINDOW, WaitUntilConfig
from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, blank, listed
from web.automations.kinds.step_forms.delay import UNITS, number, spelt
from web.filters import when
from web.forms import Form, trimmed

_EVERY_DAY: Final = (1, 2, 3, 4, 5, 6, 7)
_MODES: Final[Any] = listed([(EVENT, _("An event")), (WINDOW, _("Hours of the week"))])
_OF_EVENT: Final = ("mode", "event_name", "limit_duration", "limit_unit")
_OF_WINDOW: Final = ("mode", "weekdays", "opens", "closes")


class WaitUntilFields(Form):
    """What is waited for. seen: names of events that were seen lately."""

    seen: Sequence[str] = ()
    mode = RadioField(_("Wait for"), choices=_MODES, default=EVENT)
    event_name = StringField(
        _("Name of the event"),
        [Length(max=100)],
        filters=[trimmed],
        description=_("Exactly as your product sends it, capital letters included."),
    )
    limit_duration = StringField(
        _("At most"), filters=[trimmed], render_kw={"inputmode": "decimal", "maxlength": 20}
    )
    limit_unit = SelectField(_("Unit"), choices=UNITS, default="days")
    weekdays = SelectMultipleField(
        _("Weekdays"),
        coerce=int,
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    opens = StringField(_("From"), widget=TimeInput())
    closes = StringField(_("Until"), widget=TimeInput())


class WaitUntilForm(KindForm):
    """A wait for something."""

    Fields = WaitUntilFields
    label = _("Wait until")
    about = _("Wait for an event, at most so long, or for hours of the person’s own week.")
    wants = frozenset({"events"})
    template = "automations/kinds/_wait_until.html"

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Show every field, those of the other way of waiting with what they begin with."""
        return {
            **super().shown(config),
            "limit_duration": spelt(config.get("limit_duration")),
            "limit_unit": config.get("limit_unit") or "days",
            "weekdays": config.get("weekdays", list(_EVERY_DAY)),
        }

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:  # noqa: ARG002 - a contract
        """Offer the days of the week, as the reader calls them, and events seen lately."""
        form.seen = choices.events
        names = get_day_names("wide", "format", get_locale() or "en")
        form.weekdays.choices = [(day, names[day - 1]) for day in _EVERY_DAY]

    def read(self, form: Any) -> JsonObject:
        """Return what the chosen way of waiting needs, and nothing of the other one."""
        typed = {name: blank(value) for name, value in form.data.items()}
        typed["limit_duration"] = number(form.limit_duration.data or "")
        names = _OF_WINDOW if typed["mode"] == WINDOW else _OF_EVENT
        return {name: typed[name] for name in names}

    def sentence(self, config: JsonObject, at: datetime) -> str | Markup:
        """Say when somebody in the workspace's zone who arrives now goes on."""
        try:
            read = WaitUntilConfig.model_validate(config)
            if read.mode == EVENT:
                return ""
            zone = get_timezone()
            assumed = zone if isinstance(zone, ZoneInfo) else local_time.zone_of(str(zone))
            until = local_time.opening(read.window, at, assumed)
        except (ValidationError, ValueError):
            return ""
        words = gettext("Whoever arrives now goes on at the earliest on %(when)s.", when="{when}")
        return escape(words).format(when=when(until))
