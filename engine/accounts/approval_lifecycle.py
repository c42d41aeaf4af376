"""The only writer of approvals.status and of what is written with it: answer, by whom, when.

A request is decided once: granted, denied, or over without a decision (withdrawn).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.accounts.models import DENIED, GRANTED, PENDING, WITHDRAWN, Approval
from engine.core import audit
from engine.core.audit import Actor
from engine.core.machine import Change, Machine, born, transition
from engine.core.outcome import Recorded, Refused, Transitioned

APPROVAL_EDGES: Final = frozenset({(PENDING, GRANTED), (PENDING, DENIED), (PENDING, WITHDRAWN)})
ASKED: Final = "approval.asked"
ACTIONS: Final[Mapping[str, str]] = {
    PENDING: ASKED,
    GRANTED: "approval.granted",
    DENIED: "approval.denied",
    WITHDRAWN: "approval.withdrawn",
}


@dataclass(frozen=True)
class Verdict:
    """How a request ends. by: the actor; answer: words to whoever asked.

    told: what its audit line says beside statuses, kind and asker.
    """

    to: str
    by: str
    answer: str | None = None
    told: Mapping[str, audit.Scalar] = field(default_factory=dict)


def _reduce(row: Approval, asked: Verdict, at: datetime) -> Change | Refused:
    patch = {"answer": asked.answer, "decided_by": asked.by, "decided_at": at}
    details = {"kind": row.kind, "asked_by": row.asked_by, **asked.told}
    return Change(patch, ACTIONS[asked.to], details)


MACHINE: Final = Machine[Approval, Verdict](
    resource="approval",
    row=Approval,
    edges=APPROVAL_EDGES,
    target=lambda verdict: verdict.to,
    reduce=_reduce,
    action=lambda status: ACTIONS[status],
)


def new_status() -> dict[str, Any]:
    """Return the lifecycle's columns of a request that is being made."""
    return born(MACHINE, PENDING)


def move(
    session: Session, approval_id: int, verdict: Verdict, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """End a request, or say why not; the same end again is recorded only."""
    return transition(session, MACHINE, approval_id, verdict, actor, at)
