"""The step kinds in words, by their stored name."""

from typing import Final

from engine.core.registry import Registry
from web.automations.kinds.steps.base import AnyStepWords
from web.automations.kinds.steps.condition import ConditionWords
from web.automations.kinds.steps.delay import DelayWords
from web.automations.kinds.steps.email import EmailWords
from web.automations.kinds.steps.end import EndWords
from web.automations.kinds.steps.random_split import RandomSplitWords
from web.automations.kinds.steps.slack import SlackWords
from web.automations.kinds.steps.topic import TopicWords
from web.automations.kinds.steps.update_contact import UpdateContactWords
from web.automations.kinds.steps.wait_until import WaitUntilWords
from web.automations.kinds.steps.webhook import WebhookWords

STEPS: Final = Registry[AnyStepWords](
    "step in words",
    {
        "email": EmailWords(),
        "delay": DelayWords(),
        "wait_until": WaitUntilWords(),
        "condition": ConditionWords(),
        "random_split": RandomSplitWords(),
        "update_contact": UpdateContactWords(),
        "topic": TopicWords(),
        "webhook": WebhookWords(),
        "slack": SlackWords(),
        "end": EndWords(),
    },
)
