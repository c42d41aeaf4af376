"""The trigger `topic_subscribed` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.triggers.topic_subscribed import TopicSubscribedConfig
from web.automations.kinds.conditions.base import Names
from web.automations.kinds.triggers.base import TriggerWords


class TopicSubscribedWords(TriggerWords[TopicSubscribedConfig]):
    """A subscription took effect."""

    def title(self, config: TopicSubscribedConfig, topics: Names) -> str:
        """Say which topic."""
        if not config.topic_id:
            return str(_("A person subscribes to a topic (none chosen yet)"))
        name = topics.get(config.topic_id, config.topic_id)
        return str(_("A person subscribes to the topic “%(topic)s”", topic=name))

    def entered(self, data: Mapping[str, Any], topics: Names) -> str:
        """Say which topic was subscribed to."""
        topic_id = str(data.get("topic_id", ""))
        name = topics.get(topic_id, topic_id)
        return str(_("Entered by subscribing to the topic “%(topic)s”", topic=name))

    def topics(self, config: TopicSubscribedConfig) -> frozenset[str]:
        """Return the one topic."""
        return frozenset({config.topic_id}) if config.topic_id else frozenset()
