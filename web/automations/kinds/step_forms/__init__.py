"""The forms of step kinds, by their stored name, in the order they are offered."""

from typing import Final

from engine.core.registry import Registry
from web.automations.kinds.base import KindForm
from web.automations.kinds.step_forms.condition import ConditionForm
from web.automations.kinds.step_forms.delay import DelayForm
from web.automations.kinds.step_forms.email import EmailForm
from web.automations.kinds.step_forms.end import EndForm
from web.automations.kinds.step_forms.random_split import RandomSplitForm
from web.automations.kinds.step_forms.slack import SlackForm
from web.automations.kinds.step_forms.topic import TopicForm
from web.automations.kinds.step_forms.update_contact import UpdateContactForm
from web.automations.kinds.step_forms.wait_until import WaitUntilForm
from web.automations.kinds.step_forms.webhook import WebhookForm

STEP_FORMS: Final = Registry[KindForm](
    "form of a step",
    {
        "email": EmailForm(),
        "delay": DelayForm(),
        "wait_until": WaitUntilForm(),
        "condition": ConditionForm(),
        "random_split": RandomSplitForm(),
        "update_contact": UpdateContactForm(),
        "topic": TopicForm(),
        "webhook": WebhookForm(),
        "slack": SlackForm(),
        "end": EndForm(),
    },
)
