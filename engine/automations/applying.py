"""Changes of people that steps asked for, written set-wise in the transaction that settles them.

A kind only names the change; here it happens, under the lock of the contact, so that the result a
run keeps is what really changed. Events are recorded, so other automations may start (facts 1.3).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.inputs import AUTOMATION, ContactPatch
from engine.automations.kinds.steps.base import Failed, TopicChange
from engine.core.outcome import Refused

# Why a change was not made, in the words a step fails with; anything else is a value's fault.
_FAILURES: Final[Mapping[str, Failed]] = {
    "contact_not_found": Failed("CONTACT_NOT_FOUND", "Automation run or contact not found"),
    "topic_not_found": Failed("TOPIC_NOT_FOUND", "Topic not found"),
}


@dataclass(frozen=True)
class Change:
    """What one completed visit wants of its person. contact_id: the contact's row."""

    step_run_id: int
    workspace_id: int
    contact_id: int
    patch: ContactPatch | None = None
    membership: TopicChange | None = None


@dataclass
class Applied:
    """What became of the changes, by step run: a failure (nothing was written), or the result that
    the run page tells: `changes` (key, before, after) of a patch, `outcome` of a membership."""

    failed: dict[int, Failed] = field(default_factory=dict)
    results: dict[int, dict[str, Any]] = field(default_factory=dict)


def apply(session: Session, wanted: Sequence[Change], at: datetime) -> Applied:
    """Write the changes and record their events; contacts are locked in the order of their ids.

    Two changes of one person in a batch happen one after the other, in the order of `wanted`. A
    failure is TOPIC_NOT_FOUND, PROPERTY_NOT_FOUND, INVALID_VALUE or CONTACT_NOT_FOUND; a change
    with patch and membership fails as a whole only if its patch does.
    """
    applied = Applied()
    return applied
