"""Which way chance would send somebody."""

from collections.abc import Sequence

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene, told
from engine.automations.kinds.steps.random_split import RandomSplitConfig, RandomSplitStep

_KIND = RandomSplitStep()


class RandomSplitForesight(Foresight[RandomSplitConfig]):
    """The split: the way of the real person, or the one that was chosen."""

    def choices(self, config: RandomSplitConfig) -> Sequence[str]:
        """Return the ways; which one is a person's own, only their number tells."""
        return tuple(_KIND.branches(config))

    def foresee(self, scene: Scene, config: RandomSplitConfig) -> Foreseen:
        """Take the chosen way, else the one that the person would take by chance."""
        if scene.choice is not None:
            result = {"branch": scene.choice, "share": config.shares.get(scene.choice)}
            return Foreseen(branch=scene.choice, result=result)
        return told(_KIND.run([scene.visit(config)], {})[0])
