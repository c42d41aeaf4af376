"""The registry of trigger kinds: file stem = stored name = key."""

from typing import Final

from engine.automations.kinds.triggers.base import Triggers
from engine.automations.kinds.triggers.contact_created import ContactCreatedTrigger
from engine.automations.kinds.triggers.contact_updated import ContactUpdatedTrigger
from engine.automations.kinds.triggers.date_reached import DateReachedTrigger
from engine.automations.kinds.triggers.event_received import EventReceivedTrigger
from engine.automations.kinds.triggers.topic_subscribed import TopicSubscribedTrigger
from engine.core.registry import Registry

KINDS: Final[Triggers] = {
    "contact_created": ContactCreatedTrigger(),
    "contact_updated": ContactUpdatedTrigger(),
    "event_received": EventReceivedTrigger(),
    "topic_subscribed": TopicSubscribedTrigger(),
    "date_reached": DateReachedTrigger(),
}
TRIGGERS: Final = Registry("trigger kind", KINDS)
