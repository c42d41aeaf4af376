"""The status of a send: its inputs, its legal edges and the rule that says what changes.

A send is created in `service.sends` and walked by `walk_lifecycle`; nobody else writes its status.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from engine.core.machine import Change, Edges, Machine
from engine.core.outcome import Refused
from engine.delivery.models import (
    BOUNCED,
    CLICKED,
    COMPLAINED,
    DELIVERED,
    FAILED,
    OPENED,
    QUEUED,
    SENT,
    EmailSend,
)


@dataclass(frozen=True)
class Sent:
    """The other side took the message. reply: what it said."""

    message_id: str
    reply: str


@dataclass(frozen=True)
class Failed:
    """The message will not be sent again by itself. code: see kinds.base."""

    code: str
    message: str


@dataclass(frozen=True)
class Reported:
    """What became of a sent message: one of the statuses behind `sent`."""

    status: str


SendInput = Sent | Failed | Reported

# facts 4.14. queued → queued is the claim, a retry and a message given back; bounced → bounced is
# a soft bounce that became a hard one.
EDGES: Final[Edges] = frozenset(
    (before, after)
    for before, targets in {
        QUEUED: (QUEUED, SENT, FAILED),
        SENT: (DELIVERED, OPENED, CLICKED, BOUNCED, COMPLAINED, FAILED),
        DELIVERED: (OPENED, CLICKED, BOUNCED, COMPLAINED),
        OPENED: (CLICKED, BOUNCED, COMPLAINED),
        CLICKED: (BOUNCED, COMPLAINED),
        BOUNCED: (BOUNCED, COMPLAINED),
        COMPLAINED: (),
        FAILED: (),
    }.items()
    for after in targets
)


def _target(asked: SendInput) -> str:
    match asked:
        case Sent():
            return SENT
        case Failed():
            return FAILED
        case Reported():
            return asked.status


def _reduce(_row: EmailSend, asked: SendInput, at: datetime) -> Change | Refused:
    action = f"send.{_target(asked)}"
    match asked:
        case Sent():
            return Change(sent_patch(asked.message_id, asked.reply, at), action)
        case Failed():
            patch = failed_patch(asked.code, asked.message, at)
            return Change(patch, action, {"code": asked.code})
        case Reported(status=status) if status in {QUEUED, SENT, FAILED}:
            return Refused("illegal_edge")
        case Reported():
            return Change({}, action)


def sent_patch(message_id: Any, reply: Any, at: datetime) -> dict[str, Any]:
    """Return the columns of a send that was accepted; values, or columns of a batch."""
    return {
        "message_id": message_id,
        "provider_reply": reply,
        "sent_at": at,
        "lease_until": None,
        "error_code": None,
        "error_message": None,
    }


def failed_patch(code: Any, message: Any, at: datetime) -> dict[str, Any]:
    """Return the columns of a send that failed for good; values, or columns of a batch."""
    return {"error_code": code, "error_message": message, "failed_at": at, "lease_until": None}


SENDS: Final[Machine[EmailSend, SendInput]] = Machine(
    resource="send",
    row=EmailSend,
    edges=EDGES,
    target=_target,
    reduce=_reduce,
    action=lambda status: f"send.{status}",
)
