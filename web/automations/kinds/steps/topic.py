"""The step `topic` in words."""

from collections.abc import Mapping
from typing import Any, Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString

from engine.automations.kinds.steps.topic import TopicConfig
from web.automations.kinds.steps.base import Named, StepWords

_OUTCOMES: Final[Mapping[str, LazyString]] = {
    "subscribed": lazy_gettext("Subscribed to “%(topic)s”"),
    "pending_doi": lazy_gettext("Subscribed to “%(topic)s”, not confirmed yet"),
    "already_member": lazy_gettext("Was subscribed to “%(topic)s” already"),
    "unsubscribed": lazy_gettext("Unsubscribed from “%(topic)s”"),
    "not_member": lazy_gettext("Was not subscribed to “%(topic)s”"),
}


class TopicWords(StepWords[TopicConfig]):
    """A subscription, or its end."""

    def title(self, step: Named[TopicConfig]) -> str:
        """Return, for example, “Subscribe to “News””."""
        if step.config.topic_id is None:
            return str(_("Subscription without a topic"))
        if step.config.action == "subscribe":
            return str(_("Subscribe to “%(topic)s”", topic=_name(step)))
        return str(_("Unsubscribe from “%(topic)s”", topic=_name(step)))

    def note(self, step: Named[TopicConfig]) -> str:
        """Say that the topic is gone."""
        if step.config.topic_id and "topic_name" not in step.names:
            return str(_("The topic was deleted."))
        return ""

    def done(self, step: Named[TopicConfig], result: Mapping[str, Any]) -> str:
        """Say what it came to."""
        words = _OUTCOMES.get(str(result.get("outcome")))
        return self.title(step) if words is None else str(words) % {"topic": _name(step)}


def _name(step: Named[TopicConfig]) -> str:
    return step.names.get("topic_name", step.config.topic_id or "")
