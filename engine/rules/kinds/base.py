"""The contract of a condition kind: a Config, one SQL predicate over Contact, words for the page.

A kind reads nothing by itself: `service` puts its expressions into one statement for a whole batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict
from sqlalchemy import ColumnElement


class Config(BaseModel):
    """Base of every kind's Config: frozen, unknown keys refused, nothing coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True)
class Reference:
    """A thing outside the condition that it names. family: `topic` or `property`."""

    family: str
    name: str


@dataclass(frozen=True)
class Description:
    """The parts a page puts into words. value: None where the operator takes none."""

    field: str
    operator: str
    value: str | None = None


ConfigT = TypeVar("ConfigT", bound=Config)


class ConditionKind(Protocol[ConfigT]):
    """What a kind offers. The predicate is never NULL, so that NOT and AND mean what they say."""

    Config: type[ConfigT]

    def predicate(self, config: ConfigT, workspace_id: int) -> ColumnElement[bool]:
        """Return whether a row of Contact fulfils the condition, correlated to Contact."""

    def found(self, config: ConfigT, workspace_id: int) -> ColumnElement[Any]:
        """Return the value that decides, as text (NULL where missing), correlated to Contact."""

    def describe(self, config: ConfigT) -> Description:
        """Return field, operator and comparison value."""

    def references(self, config: ConfigT) -> Sequence[Reference]:
        """Return what the condition names and may be missing."""
