"""A contact's subscription to a topic took effect."""

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.automations.families import TOPIC, References
from engine.automations.kinds.triggers.base import TriggerConfig, TriggerData, TriggerKind
from engine.core.events import NewEvent
from engine.core.outcome import Problem


class TopicSubscribedConfig(TriggerConfig):
    """topic_id: the topic's public id, compared for exact equality."""

    topic_id: str | None = None


class TopicSubscribedTrigger(TriggerKind[TopicSubscribedConfig]):
    """Matches one topic."""

    Config = TopicSubscribedConfig
    listens_to = "topic_subscribed"

    def complete(self, config: TopicSubscribedConfig) -> bool:
        """Need the topic."""
        return bool(config.topic_id)

    def references(self, config: TopicSubscribedConfig) -> References:
        """Return the topic."""
        return {"topic_id": (TOPIC, config.topic_id)} if config.topic_id else {}

    def problems(
        self, session: Session, workspace_id: int, config: TopicSubscribedConfig
    ) -> list[Problem]:
        """Refuse a topic that does not exist."""
        wanted = {config.topic_id or ""}
        if wanted - set(audience.topic_names(session, workspace_id, wanted)):
            return [Problem("/trigger/config/topic_id", "topic_not_found")]
        return []

    def event_name(self, config: TopicSubscribedConfig) -> str | None:
        """Return the topic's public id."""
        return config.topic_id

    def matches(self, config: TopicSubscribedConfig, event: NewEvent) -> bool:
        """Match on the topic of the event."""
        return bool(config.topic_id) and event.name == config.topic_id

    def data(self, config: TopicSubscribedConfig, event: NewEvent) -> TriggerData | None:  # noqa: ARG002 - a contract
        """Keep which topic it was."""
        return {"topic_id": config.topic_id}
