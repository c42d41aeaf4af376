"""The form of the step `email`."""

from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import SelectField, StringField
from wtforms.validators import Length

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, options
from web.forms import Form


class EmailFields(Form):
    """The template, and a subject of this step's own."""

    template_id = SelectField(_("Template"))
    subject_override = StringField(
        _("Subject"),
        [Length(max=500)],
        description=_("Leave it empty to take the template’s subject."),
    )


class EmailForm(KindForm):
    """A mail."""

    Fields = EmailFields
    label = _("Mail")
    about = _("Send a mail from a template.")
    wants = frozenset({"templates"})

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the templates."""
        stored = config.get("template_id")
        form.template_id.choices = options(choices.templates, stored, _("Choose a template"))
