"""A contact came into being."""

from engine.automations.kinds.triggers.base import TriggerConfig, TriggerKind
from engine.core.events import NewEvent


class ContactCreatedConfig(TriggerConfig):
    """Nothing to configure."""


class ContactCreatedTrigger(TriggerKind[ContactCreatedConfig]):
    """Matches every new contact."""

    Config = ContactCreatedConfig
    listens_to = "contact_created"

    def matches(self, config: ContactCreatedConfig, event: NewEvent) -> bool:  # noqa: ARG002 - a contract
        """Match always."""
        return True
