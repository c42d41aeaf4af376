"""End the run here: a buffer stop in the middle of the plan (decision A13)."""

from collections.abc import Mapping, Sequence

from engine.automations.kinds.steps.base import Completed, Outcome, StepConfig, StepKind, Visit


class EndConfig(StepConfig):
    """Nothing to configure."""


class EndStep(StepKind[EndConfig, None]):
    """The end step."""

    Config = EndConfig
    ends = True

    def run(
        self,
        visits: Sequence[Visit[EndConfig]],
        facts: Mapping[int, None],  # noqa: ARG002 - a contract
    ) -> Mapping[int, Outcome]:
        """Complete; the walker then ends the run."""
        return {visit.id: Completed() for visit in visits}
