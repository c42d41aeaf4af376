"""The contract of a step kind in words: a station on the plan, a line in a run's log."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from flask_babel import gettext as _

from engine.automations.kinds.steps.base import StepConfig
from web.automations.kinds.conditions.base import Names

ConfigT = TypeVar("ConfigT", bound=StepConfig)


@dataclass(frozen=True)
class Named(Generic[ConfigT]):
    """A step with the names it mentions. names: what the kind's `enrich` answered for it."""

    config: ConfigT
    names: Mapping[str, str] = field(default_factory=dict)
    topics: Names = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """What decided at a branch, in words: the rule, the value found, the way taken."""

    words: str
    found: str
    path: str


class StepWords(ABC, Generic[ConfigT]):
    """Base of the step kinds in words; a kind overrides what it needs."""

    # The station's drawing: stop, wait, points or end (web.plan).
    shape: ClassVar[str] = "stop"

    @abstractmethod
    def title(self, step: Named[ConfigT]) -> str:
        """Return what the step does, as the plan's heading."""

    def note(self, step: Named[ConfigT]) -> str:  # noqa: ARG002 - a contract
        """Return what else the plan says about it, or ''."""
        return ""

    def standing(self, count: int) -> str:  # noqa: ARG002 - a contract
        """Return the word behind the number of people at this station."""
        return str(_("here"))

    def way_out(self, branch: str) -> str:
        """Return the word of an exit; branch: the exit's name in the engine."""
        return branch

    def done(self, step: Named[ConfigT], result: Mapping[str, Any]) -> str:  # noqa: ARG002 - a contract
        """Return what happened, for a completed visit."""
        return self.title(step)

    def foreseen(self, step: Named[ConfigT], result: Mapping[str, Any]) -> str:
        """Return what would happen, for a visit that is only simulated."""
        return self.done(step, result)

    def under_way(self, step: Named[ConfigT]) -> str:
        """Return what is going on, for a visit that waits or is executed."""
        return self.title(step)

    def evidence(
        self,
        step: Named[ConfigT],  # noqa: ARG002 - a contract
        result: Mapping[str, Any],  # noqa: ARG002
    ) -> Evidence | None:
        """Return what decided, for a completed visit of a branch."""
        return None

    def topics(self, config: ConfigT) -> frozenset[str]:  # noqa: ARG002 - a contract
        """Return the public ids of topics whose names the words need."""
        return frozenset()


AnyStepWords = StepWords[Any]
