"""The step `webhook` in words."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask_babel import gettext as _

from engine.automations.kinds.steps.webhook import WebhookConfig
from web.automations.kinds.steps.base import Named, StepWords


class WebhookWords(StepWords[WebhookConfig]):
    """A call to a server of somebody else."""

    def title(self, step: Named[WebhookConfig]) -> str:
        """Return, for example, “Tell shop.example”; the whole address would not fit."""
        if not step.config.url:
            return str(_("Webhook without an address"))
        return str(_("Tell %(host)s", host=urlsplit(step.config.url).hostname or step.config.url))

    def note(self, step: Named[WebhookConfig]) -> str:
        """Return whether the call is signed, and that the secret is gone."""
        config = step.config
        if config.secret_id is None:
            return str(_("%(method)s, not signed", method=config.method)) if config.url else ""
        if "secret_name" not in step.names:
            return str(_("The secret was deleted."))
        name = step.names["secret_name"]
        return str(_("%(method)s, signed with “%(name)s”", method=config.method, name=name))

    def done(self, step: Named[WebhookConfig], result: Mapping[str, Any]) -> str:
        """Say what the server answered."""
        if "status" not in result:
            return self.title(step)
        told = {"status": result["status"], "took": result.get("took_ms", "?")}
        return str(_("%(step)s: answered %(status)s in %(took)s ms", step=self.title(step), **told))

    def foreseen(self, step: Named[WebhookConfig], result: Mapping[str, Any]) -> str:  # noqa: ARG002 - a contract
        """Say what would be sent where."""
        would = result.get("would") or {}
        body = short(json.dumps(would.get("sends"), ensure_ascii=False))
        told = {"method": would.get("method", ""), "host": would.get("host", "")}
        return str(_("Would %(method)s to %(host)s: %(body)s", body=body, **told))


def short(text: str, longest: int = 300) -> str:
    """Return a text that fits beside a step."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
