"""The condition `email_activity` in words."""

from collections.abc import Mapping
from typing import Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString

from engine.rules.kinds import Description
from web.automations.kinds.conditions.base import ConditionWords, Names

RULES: Final[Mapping[tuple[str, str], LazyString]] = {
    ("opened", "is_true"): lazy_gettext("has ever opened a mail"),
    ("opened", "is_false"): lazy_gettext("has never opened a mail"),
    ("clicked", "is_true"): lazy_gettext("has ever clicked in a mail"),
    ("clicked", "is_false"): lazy_gettext("has never clicked in a mail"),
}


class EmailActivityWords(ConditionWords):
    """What a person ever did with our mail."""

    def rule(self, asked: Description, topics: Names) -> str:  # noqa: ARG002 - a contract
        """Return, for example, “has ever opened a mail”."""
        return str(RULES[asked.field, asked.operator])

    def found(self, asked: Description, value: str | None) -> str:  # noqa: ARG002 - a contract
        """Return yes or no."""
        return str(_("yes") if value == "true" else _("no"))
