"""The trigger kinds in words, by their stored name."""

from typing import Final

from engine.core.registry import Registry
from web.automations.kinds.triggers.base import AnyTriggerWords
from web.automations.kinds.triggers.contact_created import ContactCreatedWords
from web.automations.kinds.triggers.contact_updated import ContactUpdatedWords
from web.automations.kinds.triggers.date_reached import DateReachedWords
from web.automations.kinds.triggers.event_received import EventReceivedWords
from web.automations.kinds.triggers.topic_subscribed import TopicSubscribedWords

TRIGGERS: Final = Registry[AnyTriggerWords](
    "trigger in words",
    {
        "contact_created": ContactCreatedWords(),
        "contact_updated": ContactUpdatedWords(),
        "event_received": EventReceivedWords(),
        "topic_subscribed": TopicSubscribedWords(),
        "date_reached": DateReachedWords(),
    },
)
