"""What a change of the person would make of them."""

from dataclasses import replace

from engine.audience import service as audience
from engine.automations.applying import refusal
from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene
from engine.automations.kinds.steps.base import Completed, Failed
from engine.automations.kinds.steps.update_contact import UpdateContactConfig, UpdateContactStep
from engine.core.outcome import Refused

_KIND = UpdateContactStep()


class UpdateContactForesight(Foresight[UpdateContactConfig]):
    """The change."""

    def foresee(self, scene: Scene, config: UpdateContactConfig) -> Foreseen:
        """Say what would really change; the person goes on as changed."""
        outcome = _KIND.run([scene.visit(config)], {0: scene.at})[0]
        if isinstance(outcome, Failed):
            return Foreseen(failed=outcome)
        if not isinstance(outcome, Completed) or outcome.patch is None:
            raise ValueError("a change of the person completes with a patch")
        made = audience.foresee_update(
            scene.session, scene.workspace_id, scene.who.sketch, outcome.patch
        )
        if isinstance(made, Refused):
            return Foreseen(failed=refusal(made))
        changes = [
            {"key": each.key, "before": each.before, "after": each.after} for each in made.changes
        ]
        return Foreseen(result={"changes": changes}, who=replace(scene.who, sketch=made.after))
