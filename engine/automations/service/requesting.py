"""Asking for an activation or a publish, and granting it: the deed and the answer are one (G10).

Nothing but the very draft that was asked for is granted; where the deed is refused, the request
waits on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from engine.accounts import approval_lifecycle, approval_rows
from engine.accounts.approval_lifecycle import Verdict
from engine.accounts.models import GRANTED, Approval
from engine.accounts.service import approvals
from engine.automations import lifecycle
from engine.automations.document import digest, read_document
from engine.automations.models import ACTIVE, DRAFT, Automation
from engine.automations.service.finding import RESOURCE, draft_document, find, lock
from engine.automations.service.freezing import checked, content_in_force
from engine.automations.service.moves import StatusChange, Wish, change_status
from engine.automations.service.publishing import PEOPLE_INSIDE, STAY, Published, publish
from engine.core.audit import Actor
from engine.core.db import JsonObject
from engine.core.outcome import Recorded, Refused, Transitioned, invalid, missing

ACTIVATE: Final = "automation.activate"
PUBLISH: Final = "automation.publish"
KINDS: Final = (ACTIVATE, PUBLISH)
# What the deed itself asks for: whoever grants must be one who may do it (decision G10).
NEEDS: Final[Mapping[str, str]] = {
    ACTIVATE: "automations:publish",
    PUBLISH: "automations:publish",
}


@dataclass(frozen=True)
class Request:
    """What somebody asks for. people_inside: of a publish, `stay` or `move`; None means stay.

    note: why; version: the ETag of the draft that the asker saw, None for whatever stands now.
    """

    kind: str
    people_inside: str | None = None
    note: str | None = None
    version: int | None = None


@dataclass(frozen=True)
class Granted:
    """What a grant did. deed: what came of it; None where it was granted before."""

    outcome: Transitioned | Recorded
    deed: StatusChange | Published | None


def ask_for(
    session: Session, workspace_id: int, public_id: str, wanted: Request, actor: Actor, at: datetime
) -> str | Refused:
    """Ask for something to be done with the draft as it stands; return the request's public id.

    Refused like the deed itself where it cannot be done anyway (`illegal_edge`, `no_steps`,
    `invalid_trigger_config`, `check_failed`), and `nothing_to_publish`, `stale`, `already_asked`.
    """
    if wanted.kind not in KINDS:
        return invalid("unknown_request", "/kind")
    choice = _choice(wanted)
    if isinstance(choice, Refused):
        return choice
    found = find(session, workspace_id, public_id)
    row = None if found is None else lock(session, found)
    if row is None:
        return missing("automation_not_found")
    if wanted.version is not None and row.draft_version != wanted.version:
        return Refused("stale")
    content = draft_document(session, row)
    refused = _impossible(session, row, wanted.kind, content)
    if refused is not None:
        return refused
    asked = approvals.Ask(
        wanted.kind, RESOURCE, public_id, row.name, choice, digest(content), wanted.note
    )
    return approvals.ask(session, workspace_id, asked, actor, at)


def grant(
    session: Session,
    workspace_id: int,
    approval_id: str,
    answer: str | None,
    actor: Actor,
    at: datetime,
) -> Granted | Refused:
    """Do what was asked for, as the one who grants it, and answer the request with it.

    Refused("draft_changed") where the draft is another one by now, Refused("decided_already") where
    somebody decided otherwise before, and like the deed itself; the request waits on then. The
    caller has asked for NEEDS.
    """
    fault = approvals.too_long(answer, "/answer")
    if fault is not None:
        return fault
    seen = approval_rows.get_approval(session, workspace_id, approval_id)
    if seen is None:
        return missing("approval_not_found")
    found = find(session, workspace_id, seen.resource_id)
    row = None if found is None else lock(session, found)
    held = approvals.hold(session, workspace_id, approval_id)
    if isinstance(held, Refused):
        return held
    late = approvals.decided(held, GRANTED)
    if late is not None:
        return _late(session, held, late, actor, at)
    if row is None:
        return missing("automation_not_found")
    if digest(draft_document(session, row)) != held.content_hash:
        return Refused("draft_changed")
    deed = _do(session, row, held, answer, actor, at)
    if isinstance(deed, Refused):
        return deed
    # The deed has answered the request, as it would have by another hand.
    return Granted(Transitioned(seen.status, held.status), deed)


def deny(
    session: Session,
    workspace_id: int,
    approval_id: str,
    answer: str | None,
    actor: Actor,
    at: datetime,
) -> Transitioned | Recorded | Refused:
    """Say no to a request; nothing happens to the automation."""
    name = _name(session, workspace_id, approval_id)
    return approvals.deny(session, workspace_id, approval_id, answer, actor, at, name)


def withdraw(
    session: Session, workspace_id: int, approval_id: str, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Take back a request of one's own."""
    name = _name(session, workspace_id, approval_id)
    return approvals.withdraw(session, workspace_id, approval_id, actor, at, name)


def _choice(wanted: Request) -> JsonObject | Refused:
    where = "/wanted/people_inside"
    if wanted.kind != PUBLISH:
        return {} if wanted.people_inside is None else invalid("nothing_to_choose", where)
    people = wanted.people_inside or STAY
    return {"people_inside": people} if people in PEOPLE_INSIDE else invalid("wrong_value", where)


def _impossible(
    session: Session, row: Automation, kind: str, content: JsonObject
) -> Refused | None:
    """Return why nobody could grant it as things stand, or None."""
    if (row.status == DRAFT) != (kind == ACTIVATE):
        return Refused("illegal_edge")
    in_force = content_in_force(session, row)
    if kind == PUBLISH and in_force is not None and in_force[1] == content:
        return Refused("nothing_to_publish")
    document = read_document(content)
    if isinstance(document, Refused):
        return document
    return lifecycle.unfit(checked(session, row, document, row.status))


def _do(
    session: Session,
    row: Automation,
    held: Approval,
    answer: str | None,
    actor: Actor,
    at: datetime,
) -> StatusChange | Published | Refused:
    place, public_id = row.workspace_id, row.public_id
    if held.kind == PUBLISH:
        people = str(held.wanted["people_inside"])
        return publish(session, place, public_id, people, actor, at, answer=answer)
    if row.status != DRAFT:
        # For a paused one the same wish would be a resume.
        return Refused("illegal_edge")
    return change_status(session, place, public_id, Wish(ACTIVE, answer=answer), actor, at)


def _late(
    session: Session, held: Approval, late: Recorded | Refused, actor: Actor, at: datetime
) -> Granted | Refused:
    """Return what the second of two people finds who grant at once: no second deed."""
    if isinstance(late, Refused):
        return late
    outcome = approval_lifecycle.move(session, held.id, Verdict(GRANTED, actor.name), actor, at)
    return outcome if isinstance(outcome, Refused) else Granted(outcome, None)


def _name(session: Session, workspace_id: int, approval_id: str) -> str:
    """Return the name of what a request is about, for the audit log; '' where it is gone."""
    seen = approval_rows.get_approval(session, workspace_id, approval_id)
    found = None if seen is None else find(session, workspace_id, seen.resource_id)
    return "" if found is None else found.name
