"""The step kinds in words, by their stored name."""

from typing import Final

from engine.core.registry import Registry
from web.automations.kinds.steps.base import AnyStepWords
from web.automations.kinds.steps.condition import ConditionWords
from web.automations.kinds.steps.delay import DelayWords
from web.automations.kinds.steps.email import EmailWords
from web.automations.kinds.steps.end import EndWords

STEPS: Final = Registry[AnyStepWords](
    "step in words",
    {
        "email": EmailWords(),
        "delay": DelayWords(),
        "condition": ConditionWords(),
        "end": EndWords(),
    },
)
