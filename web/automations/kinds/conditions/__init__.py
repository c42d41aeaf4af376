"""The condition kinds in words, by their stored name, and how a stored condition is told."""

from collections.abc import Mapping
from typing import Any, Final

from flask_babel import gettext as _

from engine.core.registry import Registry
from engine.rules import service as rules
from engine.rules.kinds import Description
from web.automations.kinds.conditions.base import ConditionWords, Names
from web.automations.kinds.conditions.contact_property import ContactPropertyWords
from web.automations.kinds.conditions.email_activity import EmailActivityWords
from web.automations.kinds.conditions.topic_membership import TopicMembershipWords

CONDITIONS: Final = Registry[ConditionWords](
    "condition in words",
    {
        "contact_property": ContactPropertyWords(),
        "email_activity": EmailActivityWords(),
        "topic_membership": TopicMembershipWords(),
    },
)


def rule(document: Mapping[str, Any] | None, topics: Names) -> str:
    """Return the rule of a stored condition; one that is missing or does not read says so."""
    read = _read(document)
    if read is None:
        return str(_("no rule yet"))
    words, asked = read
    return words.rule(asked, topics)


def note(document: Mapping[str, Any] | None) -> str:
    """Return what the phrase of a stored condition leaves open, or ''."""
    read = _read(document)
    return "" if read is None else read[0].note(read[1])


def found(document: Mapping[str, Any] | None, value: str | None) -> str:
    """Return the value that decided, in the words of the condition's kind."""
    read = _read(document)
    return value or "" if read is None else read[0].found(read[1], value)


def topics(document: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the public ids of the topics that a stored condition names."""
    read = _read(document)
    return frozenset() if read is None else read[0].topics(read[1])


def _read(document: Mapping[str, Any] | None) -> tuple[ConditionWords, Description] | None:
    condition = rules.read_condition(document, "")
    if isinstance(condition, list):
        return None
    return CONDITIONS.get(condition.kind), rules.describe(condition)
