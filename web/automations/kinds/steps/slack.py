"""The step `slack` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.steps.slack import SlackConfig
from web.automations.kinds.steps.base import Named, StepWords
from web.automations.kinds.steps.webhook import short


class SlackWords(StepWords[SlackConfig]):
    """A message to a channel; its address is a secret and never shown."""

    def title(self, step: Named[SlackConfig]) -> str:
        """Return, for example, “Write to “Sales” in Slack”."""
        name = step.names.get("secret_name")
        if name is None:
            return str(_("Slack message without a channel"))
        return str(_("Write to “%(name)s” in Slack", name=name))

    def note(self, step: Named[SlackConfig]) -> str:
        """Return the text, or that the channel's address is gone."""
        if step.config.secret_id and "secret_name" not in step.names:
            return str(_("The secret was deleted."))
        return short(step.config.text or "", 80)

    def done(self, step: Named[SlackConfig], result: Mapping[str, Any]) -> str:
        """Say that it was written."""
        if "status" not in result:
            return self.title(step)
        return str(_("%(step)s: written", step=self.title(step)))

    def foreseen(self, step: Named[SlackConfig], result: Mapping[str, Any]) -> str:  # noqa: ARG002 - a contract
        """Say what would be written."""
        sends = (result.get("would") or {}).get("sends") or {}
        return str(_("Would write: %(text)s", text=short(str(sends.get("text", "")))))
