"""The forms of condition kinds, by their stored name, in the order they are offered."""

from typing import Final

from engine.core.registry import Registry
from web.automations.kinds.base import KindForm
from web.automations.kinds.condition_forms.contact_property import ContactPropertyForm
from web.automations.kinds.condition_forms.email_activity import EmailActivityForm
from web.automations.kinds.condition_forms.topic_membership import TopicMembershipForm

CONDITION_FORMS: Final = Registry[KindForm](
    "form of a condition",
    {
        "contact_property": ContactPropertyForm(),
        "topic_membership": TopicMembershipForm(),
        "email_activity": EmailActivityForm(),
    },
)
