"""The form of the trigger `topic_subscribed`."""

from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import SelectField

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, options
from web.forms import Form


class SubscribedFields(Form):
    """Which topic."""

    topic_id = SelectField(_("Topic"))


class TopicSubscribedForm(KindForm):
    """A subscription that takes effect."""

    Fields = SubscribedFields
    label = _("Subscription")
    about = _("A person subscribes to a topic; after a double opt-in, once it is confirmed.")
    wants = frozenset({"topics"})

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the topics."""
        stored = config.get("topic_id")
        form.topic_id.choices = options(choices.topics, stored, _("Choose a topic"))
