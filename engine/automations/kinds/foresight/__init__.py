"""What each step kind would do, by its stored name: file stem = stored name = key."""

from typing import Final

from engine.automations.kinds.foresight.base import AnyForesight
from engine.automations.kinds.foresight.condition import ConditionForesight
from engine.automations.kinds.foresight.delay import DelayForesight
from engine.automations.kinds.foresight.email import EmailForesight
from engine.automations.kinds.foresight.end import EndForesight
from engine.automations.kinds.foresight.random_split import RandomSplitForesight
from engine.automations.kinds.foresight.slack import SlackForesight
from engine.automations.kinds.foresight.topic import TopicForesight
from engine.automations.kinds.foresight.update_contact import UpdateContactForesight
from engine.automations.kinds.foresight.wait_until import WaitUntilForesight
from engine.automations.kinds.foresight.webhook import WebhookForesight
from engine.core.registry import Registry

FORESIGHT: Final = Registry[AnyForesight](
    "foresight",
    {
        "email": EmailForesight(),
        "delay": DelayForesight(),
        "wait_until": WaitUntilForesight(),
        "condition": ConditionForesight(),
        "random_split": RandomSplitForesight(),
        "update_contact": UpdateContactForesight(),
        "topic": TopicForesight(),
        "webhook": WebhookForesight(),
        "slack": SlackForesight(),
        "end": EndForesight(),
    },
)
