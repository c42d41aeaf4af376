"""The condition kinds by their stored name."""

from typing import Any, Final

from engine.core.registry import Registry
from engine.rules.kinds.base import ConditionKind, Description, Reference
from engine.rules.kinds.contact_property import ContactProperty
from engine.rules.kinds.email_activity import EmailActivity
from engine.rules.kinds.topic_membership import TopicMember

# A registry of kinds with Configs of their own: each kind alone knows its type.
CONDITIONS: Final[Registry[ConditionKind[Any]]] = Registry(
    "condition",
    {
        "contact_property": ContactProperty(),
        "email_activity": EmailActivity(),
        "topic_membership": TopicMember(),
    },
)

__all__ = ["CONDITIONS", "ConditionKind", "Description", "Reference"]
