"""The condition `topic_membership` in words."""

from flask_babel import gettext as _

from engine.rules.kinds import Description
from web.automations.kinds.conditions.base import ConditionWords, Names


class TopicMembershipWords(ConditionWords):
    """Whether a person is in a topic."""

    def rule(self, asked: Description, topics: Names) -> str:
        """Return, for example, “is in the topic “News””."""
        name = topics.get(asked.value or "", asked.value or "")
        if asked.operator == "equals":
            return str(_("is in the topic “%(topic)s”", topic=name))
        return str(_("is not in the topic “%(topic)s”", topic=name))

    def found(self, asked: Description, value: str | None) -> str:  # noqa: ARG002 - a contract
        """Return whether there is a membership."""
        return str(_("in the topic") if value == "member" else _("not in the topic"))

    def topics(self, asked: Description) -> frozenset[str]:
        """Return the one topic."""
        return frozenset({asked.value}) if asked.value else frozenset()
