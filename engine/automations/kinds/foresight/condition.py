"""What a branch would say of somebody."""

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene, told
from engine.automations.kinds.steps.base import Failed
from engine.automations.kinds.steps.condition import ConditionConfig, ConditionStep
from engine.rules import virtual

_KIND = ConditionStep()


class ConditionForesight(Foresight[ConditionConfig]):
    """The branch: the same predicate as for a real person."""

    def foresee(self, scene: Scene, config: ConditionConfig) -> Foreseen:
        """Take the way that the condition decides for the person as they are by then."""
        if config.condition is None:
            return Foreseen(failed=Failed("CONDITION_MISSING", "No condition configured"))
        person = scene.who.person
        found = virtual.evaluate(scene.session, scene.workspace_id, config.compiled, person)
        return told(_KIND.run([scene.visit(config)], {0: found})[0])
