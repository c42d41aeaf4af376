"""The contract of a trigger kind: does this event start that automation, and with which data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from engine.automations.families import References
from engine.core.events import NewEvent
from engine.core.outcome import Problem


class TriggerConfig(BaseModel):
    """Base of every trigger's configuration: frozen, strict types, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


ConfigT = TypeVar("ConfigT", bound=TriggerConfig)
TriggerData = dict[str, str | int | float | bool | None]


class TriggerKind(ABC, Generic[ConfigT]):
    """Base of the trigger kinds. `listens_to` is the event kind it hears of."""

    Config: type[ConfigT]
    listens_to: ClassVar[str]
    # The event is for one automation, as it was activated last (decision S4): it names them as
    # data["automation"], the public id, and data["version"].
    addressed: ClassVar[bool] = False

    def complete(self, config: ConfigT) -> bool:  # noqa: ARG002 - a contract
        """Return whether the configuration has what the trigger needs to ever match."""
        return True

    def references(self, config: ConfigT) -> References:  # noqa: ARG002 - a contract
        """Return what the configuration names and another workspace may lack."""
        return {}

    def problems(self, session: Session, workspace_id: int, config: ConfigT) -> list[Problem]:  # noqa: ARG002 - a contract
        """Return what would never work, for example a topic that is gone (decision A12)."""
        return []

    def event_name(self, config: ConfigT) -> str | None:  # noqa: ARG002 - a contract
        """Return the name that every event it matches bears, or None where names say nothing."""
        return None

    @abstractmethod
    def matches(self, config: ConfigT, event: NewEvent) -> bool:
        """Return whether `event` starts an automation configured so."""
        ...

    def data(self, config: ConfigT, event: NewEvent) -> TriggerData | None:  # noqa: ARG002 - a contract
        """Return the trigger data a run keeps: a flat map, or None (facts 1.2)."""
        return None


AnyTriggerKind = TriggerKind[Any]
Triggers = Mapping[str, AnyTriggerKind]
