"""The contract of a trigger kind in words: what starts an automation, what started a run."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from engine.automations.kinds.triggers.base import TriggerConfig
from web.automations.kinds.conditions.base import Names

ConfigT = TypeVar("ConfigT", bound=TriggerConfig)


class TriggerWords(ABC, Generic[ConfigT]):
    """Base of the trigger kinds in words."""

    @abstractmethod
    def title(self, config: ConfigT, topics: Names) -> str:
        """Return what starts the automation, as a phrase."""

    @abstractmethod
    def entered(self, data: Mapping[str, Any], topics: Names) -> str:
        """Return how one person entered; data: what the run kept of its trigger."""

    def topics(self, config: ConfigT) -> frozenset[str]:  # noqa: ARG002 - a contract
        """Return the public ids of topics whose names the words need."""
        return frozenset()


AnyTriggerWords = TriggerWords[Any]
