"""Whom a webhook would tell, and what: no socket is opened."""

import json
from urllib.parse import urlsplit

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene
from engine.automations.kinds.steps.webhook import BROKEN, NO_ADDRESS, WebhookConfig, body_of
from engine.delivery.service import wording


class WebhookForesight(Foresight[WebhookConfig]):
    """The call, taken for answered."""

    def foresee(self, scene: Scene, config: WebhookConfig) -> Foreseen:
        """Say what would be sent where."""
        if config.url is None:
            return Foreseen(failed=NO_ADDRESS)
        data = wording.data_for(scene.session, scene.workspace_id, scene.who.reader)
        body = body_of(scene.visit(config), data, scene.at)
        if body is None:
            return Foreseen(failed=BROKEN)
        host = urlsplit(config.url).hostname or ""
        told = {"method": config.method, "host": host, "sends": json.loads(body)}
        return Foreseen(result={"would": told})
