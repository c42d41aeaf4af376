"""What an end would do: the walk ends here."""

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene
from engine.automations.kinds.steps.end import EndConfig


class EndForesight(Foresight[EndConfig]):
    """The end."""

    def foresee(self, scene: Scene, config: EndConfig) -> Foreseen:  # noqa: ARG002 - a contract
        """Complete; who walks the plan ends there."""
        return Foreseen()
