"""A compiled step graph: keys become indexes, exits become targets (decision A10). Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import AnyStepKind, StepConfig

END: Final = "end"


@dataclass(frozen=True)
class GraphStep:
    """One step. after: index of the successor without a branch; exits: index by branch name.

    An index that is the number of steps means: the run ends.
    """

    index: int
    key: str
    type: str
    config: StepConfig
    after: int
    exits: Mapping[str, int]

    @cached_property
    def kind(self) -> AnyStepKind:
        """Return the kind that executes the step."""
        return STEPS.get(self.type)


@dataclass(frozen=True)
class Graph:
    """The steps of one revision or draft, in document order."""

    steps: tuple[GraphStep, ...]

    def at(self, index: int) -> GraphStep | None:
        """Return the step at `index`, or None beyond either end."""
        return self.steps[index] if 0 <= index < len(self.steps) else None

    def following(self, index: int, branch: str | None) -> int:
        """Return the index a run goes to after step `index` by exit `branch`."""
        step = self.steps[index]
        if step.kind.ends:
            return len(self.steps)
        return step.exits.get(branch, step.after) if branch is not None else step.after

    @cached_property
    def may_end(self) -> tuple[bool, ...]:
        """Return for each step whether some way out of it ends the run."""
        last = len(self.steps)
        return tuple(
            any(self.following(step.index, branch) >= last for branch in (None, *step.exits))
            for step in self.steps
        )

    def skipped(self, index: int, target: int) -> Sequence[GraphStep]:
        """Return the steps a forward jump passes (decision A16); none when going back."""
        return self.steps[index + 1 : target]

    def endless(self) -> int | None:
        """Return the index of a step on a cycle that nothing can leave, or None.

        Only steps with one way out make such a cycle: a branch may go back, the loop cap brakes it.
        """
        settled: set[int] = set()
        for start in range(len(self.steps)):
            walked: list[int] = []
            here = start
            while here < len(self.steps) and here not in settled:
                if here in walked:
                    return here
                walked.append(here)
                ways = self._ways(here)
                if len(ways) != 1:
                    break
                here = ways.pop()
            settled.update(walked)
        return None

    def _ways(self, index: int) -> set[int]:
        step = self.steps[index]
        if step.kind.ends:
            return {len(self.steps)}
        return set(step.exits.values()) or {step.after}


def link(steps: Sequence[Mapping[str, Any]]) -> Graph:
    """Return the graph of document steps whose structure is sound."""
    places = {step["key"]: index for index, step in enumerate(steps)} | {END: len(steps)}
    linked = []
    for index, step in enumerate(steps):
        kind = STEPS.get(step["type"])
        config = kind.Config.model_validate(step["config"])
        target = step.get("next")
        after = index + 1 if target is None else places[target]
        exits = {
            name: after if key is None else places[key]
            for name, key in kind.branches(config).items()
        }
        linked.append(GraphStep(index, step["key"], step["type"], config, after, exits))
    return Graph(tuple(linked))
