"""The form of the condition `topic_membership`."""

from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import SelectField

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, listed, options
from web.forms import Form

_OPERATORS: Any = listed(
    [("equals", _("is in the topic")), ("not_equals", _("is not in the topic"))]
)


class MembershipFields(Form):
    """Which topic, and whether."""

    operator = SelectField(_("Whether"), choices=_OPERATORS, default="equals")
    topic_id = SelectField(_("Topic"))


class TopicMembershipForm(KindForm):
    """Whether a person is in a topic."""

    Fields = MembershipFields
    label = _("Topic")
    about = _("Whether the person is in a topic.")
    wants = frozenset({"topics"})

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the topics."""
        stored = config.get("topic_id")
        form.topic_id.choices = options(choices.topics, stored, _("Choose a topic"))

    def read(self, form: Any) -> JsonObject:
        """Return the rule; nothing where no topic was chosen."""
        topic_id = form.topic_id.data
        return {"operator": form.operator.data, "topic_id": topic_id} if topic_id else {}
