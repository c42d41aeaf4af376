"""The form of the trigger `event_received`."""

from collections.abc import Sequence
from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import StringField
from wtforms.validators import Length

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm
from web.forms import Form, trimmed


class EventFields(Form):
    """The name. seen: names that were seen lately."""

    seen: Sequence[str] = ()
    event_name = StringField(
        _("Name of the event"),
        [Length(max=100)],
        filters=[trimmed],
        description=_("Exactly as your product sends it, capital letters included."),
    )


class EventReceivedForm(KindForm):
    """A named event."""

    Fields = EventFields
    label = _("Event")
    about = _("Your product reports that something happened to a person.")
    wants = frozenset({"events"})
    template = "automations/kinds/_event_received.html"

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:  # noqa: ARG002 - a contract
        """Offer the names of events that were seen lately."""
        form.seen = choices.events
