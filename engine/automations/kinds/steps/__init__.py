"""The registry of step kinds: file stem = stored name = key."""

from collections.abc import Mapping
from typing import Final

from engine.automations.kinds.steps.base import AnyStepKind
from engine.automations.kinds.steps.condition import ConditionStep
from engine.automations.kinds.steps.delay import DelayStep
from engine.automations.kinds.steps.email import EmailStep
from engine.automations.kinds.steps.end import EndStep
from engine.automations.kinds.steps.random_split import RandomSplitStep
from engine.automations.kinds.steps.slack import SlackStep
from engine.automations.kinds.steps.topic import TopicStep
from engine.automations.kinds.steps.update_contact import UpdateContactStep
from engine.automations.kinds.steps.wait_until import WaitUntilStep
from engine.automations.kinds.steps.webhook import WebhookStep
from engine.core.registry import Registry

KINDS: Final[Mapping[str, AnyStepKind]] = {
    "email": EmailStep(),
    "delay": DelayStep(),
    "wait_until": WaitUntilStep(),
    "condition": ConditionStep(),
    "random_split": RandomSplitStep(),
    "update_contact": UpdateContactStep(),
    "topic": TopicStep(),
    "webhook": WebhookStep(),
    "slack": SlackStep(),
    "end": EndStep(),
}
STEPS: Final = Registry("step kind", KINDS)
