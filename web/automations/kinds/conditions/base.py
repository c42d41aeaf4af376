"""The contract of a condition kind in words: the rule, the value that was found."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from flask_babel import gettext as _

from engine.rules.kinds import Description

Names = Mapping[str, str]
"""Names of topics by public id."""


class ConditionWords(ABC):
    """Base of the condition kinds in words."""

    @abstractmethod
    def rule(self, asked: Description, topics: Names) -> str:
        """Return the rule as a phrase, without a question mark."""

    def note(self, asked: Description) -> str:  # noqa: ARG002 - a contract
        """Return what the rule's phrase leaves open, or ''."""
        return ""

    def found(self, asked: Description, value: str | None) -> str:  # noqa: ARG002 - a contract
        """Return the value that decided; value: as the engine stored it, None where missing."""
        return str(_("no value")) if value is None else value

    def topics(self, asked: Description) -> frozenset[str]:  # noqa: ARG002 - a contract
        """Return the public ids of the topics that the rule names."""
        return frozenset()
