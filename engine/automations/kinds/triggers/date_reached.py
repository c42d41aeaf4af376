"""A date of the person's comes, or lies some days ahead or behind (decision A14).

Nobody reports that: the sweep of dates finds whose hour has come, and records an event that is for
one automation in its present activation.
"""

from typing import Annotated

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.models import INSTANT, Property
from engine.automations.families import PROPERTY, References
from engine.automations.kinds.triggers.base import TriggerConfig, TriggerData, TriggerKind
from engine.core.events import NewEvent
from engine.core.outcome import Problem


class DateReachedConfig(TriggerConfig):
    """property_key: a property that is an instant; offset_days: behind it, negative before it.

    time: HH:MM in the person's own zone; yearly: at each anniversary too.
    """

    property_key: str | None = None
    offset_days: Annotated[int, Field(ge=-365, le=365)] = 0
    time: Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")] = "09:00"
    yearly: bool = False


class DateReachedTrigger(TriggerKind[DateReachedConfig]):
    """Matches what the sweep has recorded for the automation."""

    Config = DateReachedConfig
    listens_to = "date_reached"
    addressed = True

    def complete(self, config: DateReachedConfig) -> bool:
        """Need the property to watch."""
        return bool(config.property_key)

    def references(self, config: DateReachedConfig) -> References:
        """Return the property."""
        return {"property_key": (PROPERTY, config.property_key)} if config.property_key else {}

    def problems(
        self, session: Session, workspace_id: int, config: DateReachedConfig
    ) -> list[Problem]:
        """Refuse a property that is gone or holds no dates."""
        row, where = Property, "/trigger/config/property_key"
        named = {"name": config.property_key or ""}
        found = session.scalar(
            select(row.type).where(row.workspace_id == workspace_id, row.key == named["name"])
        )
        if found is None:
            return [Problem(where, "property_not_found", named)]
        return [] if found == INSTANT else [Problem(where, "no_date_property", named)]

    def event_name(self, config: DateReachedConfig) -> str | None:
        """Return the property."""
        return config.property_key

    def matches(self, config: DateReachedConfig, event: NewEvent) -> bool:
        """Match on the property; whose event it is says the address."""
        return bool(config.property_key) and event.name == config.property_key

    def data(self, config: DateReachedConfig, event: NewEvent) -> TriggerData | None:
        """Keep which property it was, and which day."""
        day = event.data.get("date")
        return {"property_key": config.property_key, "date": None if day is None else str(day)}
