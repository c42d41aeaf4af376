"""The form of the trigger `event_received`."""

from flask_babel import lazy_gettext as _
from wtforms import StringField
from wtforms.validators import Length

from web.automations.kinds.base import KindForm
from web.forms import Form, trimmed


class EventFields(Form):
    """The name."""

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
