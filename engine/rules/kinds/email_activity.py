"""Condition on what a contact ever did with our mail: opened or clicked (facts 2.3).

Reads the monotonic flags on the contact; whoever receives the activity sets them, once and for all.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, case

from engine.audience.models import Contact
from engine.rules.kinds import base

_FLAGS: Final = {"opened": Contact.has_opened, "clicked": Contact.has_clicked}


class ActivityConfig(base.Config):
    """field: opened or clicked."""

    field: Literal["opened", "clicked"]
    operator: Literal["is_true", "is_false"]


class EmailActivity:
    """The kind `email_activity`."""

    Config = ActivityConfig

    def predicate(self, config: ActivityConfig, workspace_id: int) -> ColumnElement[bool]:  # noqa: ARG002 - the flag stands on the contact itself
        """Return whether the flag has the asked value."""
        return _FLAGS[config.field].is_(config.operator == "is_true")

    def found(self, config: ActivityConfig, workspace_id: int) -> ColumnElement[Any]:  # noqa: ARG002 - as above
        """Return 'true' or 'false'."""
        return case((_FLAGS[config.field], "true"), else_="false")

    def describe(self, config: ActivityConfig) -> base.Description:
        """Return the flag and the operator."""
        return base.Description(config.field, config.operator)

    def references(self, config: ActivityConfig) -> Sequence[base.Reference]:  # noqa: ARG002 - names nothing
        """Return nothing."""
        return ()
