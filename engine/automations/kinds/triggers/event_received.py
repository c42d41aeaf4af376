"""A named event was sent for a contact."""

import json

from engine.automations.kinds.triggers.base import TriggerConfig, TriggerData, TriggerKind
from engine.core.events import NewEvent


class EventReceivedConfig(TriggerConfig):
    """event_name: compared for exact equality."""

    event_name: str | None = None


class EventReceivedTrigger(TriggerKind[EventReceivedConfig]):
    """Matches one event name."""

    Config = EventReceivedConfig
    listens_to = "event_received"

    def complete(self, config: EventReceivedConfig) -> bool:
        """Need the name to listen for."""
        return bool(config.event_name)

    def event_name(self, config: EventReceivedConfig) -> str | None:
        """Return the name it listens for."""
        return config.event_name

    def matches(self, config: EventReceivedConfig, event: NewEvent) -> bool:
        """Match on exact equality of the name."""
        return bool(config.event_name) and event.name == config.event_name

    def data(self, config: EventReceivedConfig, event: NewEvent) -> TriggerData | None:  # noqa: ARG002 - a contract
        """Keep the name, and the properties as one JSON text when there were any (facts 1.2)."""
        kept: TriggerData = {"event_name": event.name}
        properties = event.data.get("event_properties")
        if properties is not None:
            kept["event_properties"] = json.dumps(properties, ensure_ascii=False)
        return kept
