"""Which way chance would send somebody."""

from collections.abc import Sequence
from typing import Final

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene, told
from engine.automations.kinds.steps.random_split import RandomSplitConfig, RandomSplitStep

_KIND = RandomSplitStep()
# The way that chance has for the person.
OWN: Final = "own"


class RandomSplitForesight(Foresight[RandomSplitConfig]):
    """The split: the way of the real person, or the one that was chosen."""

    def choices(self, config: RandomSplitConfig) -> Sequence[str]:
        """Return the ways, the person's own before all others."""
        return (OWN, *_KIND.branches(config))

    def foresee(self, scene: Scene, config: RandomSplitConfig) -> Foreseen:
        """Take the chosen way, else the one that the person would take by chance."""
        if scene.choice not in (None, OWN):
            result = {"branch": scene.choice, "share": config.shares.get(scene.choice)}
            return Foreseen(branch=scene.choice, result=result)
        return told(_KIND.run([scene.visit(config)], {})[0])
