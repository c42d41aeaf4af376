"""The trigger `contact_updated` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.triggers.contact_updated import ContactUpdatedConfig
from web.automations.kinds.conditions.base import Names
from web.automations.kinds.triggers.base import TriggerWords


class ContactUpdatedWords(TriggerWords[ContactUpdatedConfig]):
    """A property changed."""

    def title(self, config: ContactUpdatedConfig, topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say which property it watches."""
        if not config.property_key:
            return str(_("A property changes (none chosen yet)"))
        return str(_("The property “%(key)s” changes", key=config.property_key))

    def entered(self, data: Mapping[str, Any], topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say which property changed."""
        key = data.get("property_key", "")
        return str(_("Entered because the property “%(key)s” changed", key=key))
