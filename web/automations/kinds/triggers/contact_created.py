"""The trigger `contact_created` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.triggers.contact_created import ContactCreatedConfig
from web.automations.kinds.conditions.base import Names
from web.automations.kinds.triggers.base import TriggerWords


class ContactCreatedWords(TriggerWords[ContactCreatedConfig]):
    """A person became known."""

    def title(self, config: ContactCreatedConfig, topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say what it waits for."""
        return str(_("A person becomes known"))

    def entered(self, data: Mapping[str, Any], topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say what happened."""
        return str(_("Entered because this person became known"))
