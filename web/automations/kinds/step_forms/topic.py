"""The form of the step `topic`."""

from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import SelectField

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, listed, options
from web.forms import Form

_ACTIONS: Any = listed([("subscribe", _("Subscribe")), ("unsubscribe", _("End the subscription"))])


class TopicFields(Form):
    """Which topic, and which way."""

    action = SelectField(_("What to do"), choices=_ACTIONS, default="subscribe")
    topic_id = SelectField(_("Topic"))


class TopicForm(KindForm):
    """A subscription or its end."""

    Fields = TopicFields
    label = _("Subscription")
    about = _("Subscribe the person to a topic, or take them out of it.")
    wants = frozenset({"topics"})

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the topics."""
        stored = config.get("topic_id")
        form.topic_id.choices = options(choices.topics, stored, _("Choose a topic"))
