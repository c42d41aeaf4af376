"""The forms of trigger kinds, by their stored name, in the order they are offered."""

from typing import Final

from engine.core.registry import Registry
from web.automations.kinds.base import KindForm
from web.automations.kinds.trigger_forms.contact_created import ContactCreatedForm
from web.automations.kinds.trigger_forms.contact_updated import ContactUpdatedForm
from web.automations.kinds.trigger_forms.date_reached import DateReachedForm
from web.automations.kinds.trigger_forms.event_received import EventReceivedForm
from web.automations.kinds.trigger_forms.topic_subscribed import TopicSubscribedForm

TRIGGER_FORMS: Final = Registry[KindForm](
    "form of a trigger",
    {
        "event_received": EventReceivedForm(),
        "contact_created": ContactCreatedForm(),
        "contact_updated": ContactUpdatedForm(),
        "topic_subscribed": TopicSubscribedForm(),
        "date_reached": DateReachedForm(),
    },
)
