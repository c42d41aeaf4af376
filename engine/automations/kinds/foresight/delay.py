"""What a wait would do: nothing; the clock has moved on before it (facts 1.11)."""

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene
from engine.automations.kinds.steps.delay import DelayConfig


class DelayForesight(Foresight[DelayConfig]):
    """The wait."""

    def foresee(self, scene: Scene, config: DelayConfig) -> Foreseen:  # noqa: ARG002 - a contract
        """Go on; the wait is over."""
        return Foreseen()
