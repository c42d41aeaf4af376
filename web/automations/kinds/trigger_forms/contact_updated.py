"""The form of the trigger `contact_updated`."""

from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import SelectField

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, options, properties
from web.forms import Form


class UpdatedFields(Form):
    """Which property."""

    property_key = SelectField(_("Property"))


class ContactUpdatedForm(KindForm):
    """A property that changes."""

    Fields = UpdatedFields
    label = _("Changed property")
    about = _("A property of the person really changes.")
    wants = frozenset({"properties"})

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the properties."""
        stored = config.get("property_key")
        offered = properties(choices)
        form.property_key.choices = options(offered, stored, _("Choose a property"))
