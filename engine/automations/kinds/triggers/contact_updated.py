"""A watched property of a contact really changed (decision A1)."""

from typing import Final

from engine.audience.models import BUILT_IN
from engine.automations.families import PROPERTY, References
from engine.automations.kinds.triggers.base import TriggerConfig, TriggerData, TriggerKind
from engine.core.events import NewEvent

_FIELDS: Final = frozenset({*BUILT_IN, "external_id", "language", "timezone"})


class ContactUpdatedConfig(TriggerConfig):
    """property_key: a built-in field or a custom property, exact and case-sensitive."""

    property_key: str | None = None


class ContactUpdatedTrigger(TriggerKind[ContactUpdatedConfig]):
    """Matches when the watched key is among the changed ones."""

    Config = ContactUpdatedConfig
    listens_to = "contact_updated"

    def complete(self, config: ContactUpdatedConfig) -> bool:
        """Need the property to watch."""
        return bool(config.property_key)

    def references(self, config: ContactUpdatedConfig) -> References:
        """Return the property, unless the field is built in."""
        if not config.property_key or config.property_key in _FIELDS:
            return {}
        return {"property_key": (PROPERTY, config.property_key)}

    def matches(self, config: ContactUpdatedConfig, event: NewEvent) -> bool:
        """Match on membership in the event's list of changed properties."""
        changed = event.data.get("changed_properties")
        return isinstance(changed, list) and config.property_key in changed

    def data(self, config: ContactUpdatedConfig, event: NewEvent) -> TriggerData | None:  # noqa: ARG002 - a contract
        """Keep which property it was."""
        return {"property_key": config.property_key}
