"""The trigger `event_received` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.triggers.event_received import EventReceivedConfig
from web.automations.kinds.conditions.base import Names
from web.automations.kinds.triggers.base import TriggerWords


class EventReceivedWords(TriggerWords[EventReceivedConfig]):
    """A named event arrived."""

    def title(self, config: EventReceivedConfig, topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say which event it listens for."""
        if not config.event_name:
            return str(_("An event arrives (none chosen yet)"))
        return str(_("The event “%(name)s” arrives", name=config.event_name))

    def entered(self, data: Mapping[str, Any], topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say which event came."""
        return str(_("Entered by the event “%(name)s”", name=data.get("event_name", "")))
