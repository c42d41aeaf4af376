"""The form of the step `slack`."""

from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import SelectField, TextAreaField
from wtforms.validators import Length

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, options
from web.forms import Form


class SlackFields(Form):
    """Which channel, and what to write."""

    secret_id = SelectField(
        _("Channel"),
        description=_("Its incoming webhook is kept under Secrets, as an address."),
    )
    text = TextAreaField(
        _("Text"),
        [Length(max=20_000)],
        description=_("It may use what mails may use, for example {{ contact.first_name }}."),
        render_kw={"rows": 4},
    )


class SlackForm(KindForm):
    """A message to a channel."""

    Fields = SlackFields
    label = _("Slack message")
    about = _("Write a line into a channel of Slack.")
    wants = frozenset({"addresses"})

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the secrets that are addresses."""
        stored = config.get("secret_id")
        form.secret_id.choices = options(choices.secrets, stored, _("Choose a channel"))
