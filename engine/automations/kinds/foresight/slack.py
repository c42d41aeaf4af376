"""What would be written into a channel: no socket is opened."""

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene
from engine.automations.kinds.steps.slack import BROKEN, SlackConfig, message
from engine.delivery.service import wording


class SlackForesight(Foresight[SlackConfig]):
    """The message, taken for written."""

    def foresee(self, scene: Scene, config: SlackConfig) -> Foreseen:
        """Say what would be written."""
        data = wording.data_for(scene.session, scene.workspace_id, scene.who.reader)
        text = message(scene.visit(config), data, scene.at)
        if text is None:
            return Foreseen(failed=BROKEN)
        return Foreseen(result={"would": {"sends": {"text": text}}})
