"""Requests to those who may: ask, decide, withdraw, and what is over. Never commits.

What is asked for, and doing it, is the business of the room that the thing belongs to. Whoever
holds the thing's own row locks it first; the request comes second in the order of locks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts import approval_lifecycle, approval_rows
from engine.accounts.approval_lifecycle import ASKED, Verdict
from engine.accounts.models import DENIED, GRANTED, PENDING, WITHDRAWN, Approval
from engine.core import audit
from engine.core.audit import Actor, Scalar, Subject
from engine.core.db import JsonObject
from engine.core.ids import new_public_id
from engine.core.outcome import Problem, Recorded, Refused, Transitioned, missing
from engine.core.text import storable

RESOURCE: Final = "approval"
LONGEST: Final = 1_000


@dataclass(frozen=True)
class Ask:
    """What is asked for. kind: what would be done; resource, resource_id: to which thing.

    name: of the thing, for the audit log; wanted: with which choices; content_hash: of what the
    asker saw, as nothing else is granted; note: why, in the asker's words.
    """

    kind: str
    resource: str
    resource_id: str
    name: str
    wanted: JsonObject
    content_hash: str
    note: str | None = None


@dataclass(frozen=True)
class Done:
    """Something was done that requests may wait for; content_hash: of what it was done to.

    answer: words to whoever asked; name: of the thing, for the audit log.
    """

    resource: str
    resource_id: str
    name: str
    content_hash: str
    answer: str | None = None


def ask(
    session: Session, workspace_id: int, asked: Ask, actor: Actor, at: datetime
) -> str | Refused:
    """Keep a request; return its public id. The caller holds the row of the thing itself.

    One request of a kind waits per thing: another one is Refused("already_asked"), unless what is
    asked for has changed meanwhile. Then nobody can grant the older one, and it is over.
    """
    fault = too_long(asked.note, "/note")
    if fault is not None:
        return fault
    for other in _waiting(session, workspace_id, asked.resource, asked.resource_id):
        if other.kind != asked.kind:
            continue
        if other.content_hash == asked.content_hash:
            return Refused("already_asked", params=_who(other.asked_by, other.asked_at))
        told = {"name": asked.name, "reason": "asked_anew"}
        _end(session, other, Verdict(WITHDRAWN, actor.name, told=told), actor, at)
    row = Approval(
        public_id=new_public_id(),
        workspace_id=workspace_id,
        kind=asked.kind,
        resource=asked.resource,
        resource_id=asked.resource_id,
        wanted=dict(asked.wanted),
        content_hash=asked.content_hash,
        note=words(asked.note),
        asked_by=actor.name,
        asked_at=at,
        **approval_lifecycle.new_status(),
    )
    session.add(row)
    session.flush()
    details: Mapping[str, Scalar] = {"name": asked.name, "kind": asked.kind, **asked.wanted}
    subject = Subject(workspace_id, RESOURCE, row.public_id)
    audit.record(session, subject, ASKED, actor, at, details)
    return row.public_id


def hold(session: Session, workspace_id: int, public_id: str) -> Approval | Refused:
    """Return a request and keep others from deciding it until the transaction ends."""
    row = session.scalar(
        select(Approval)
        .where(Approval.workspace_id == workspace_id, Approval.public_id == public_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return missing("approval_not_found") if row is None else row


def decided(row: Approval, to: str) -> Recorded | Refused | None:
    """Return what somebody finds who comes too late: the same decision, or another; else None."""
    if row.status == PENDING:
        return None
    if row.status == to:
        return Recorded(to)
    return Refused("decided_already", params=_who(row.decided_by or "", row.decided_at))


def deny(
    session: Session,
    workspace_id: int,
    public_id: str,
    answer: str | None,
    actor: Actor,
    at: datetime,
    name: str = "",
) -> Transitioned | Recorded | Refused:
    """Say no to a request. name: of the thing it is about, for the audit log."""
    fault = too_long(answer, "/answer")
    if fault is not None:
        return fault
    row = hold(session, workspace_id, public_id)
    if isinstance(row, Refused):
        return row
    verdict = Verdict(DENIED, actor.name, words(answer), _told(name))
    return _decide(session, row, verdict, actor, at)


def withdraw(
    session: Session, workspace_id: int, public_id: str, actor: Actor, at: datetime, name: str = ""
) -> Transitioned | Recorded | Refused:
    """Take back a request of one's own; another's is Refused("not_your_request")."""
    row = hold(session, workspace_id, public_id)
    if isinstance(row, Refused):
        return row
    if row.asked_by != actor.name:
        return Refused("not_your_request", "forbidden")
    return _decide(session, row, Verdict(WITHDRAWN, actor.name, None, _told(name)), actor, at)


def settle(session: Session, workspace_id: int, done: Done, actor: Actor, at: datetime) -> None:
    """Answer every request that waits about a thing, as what they ask for was done just now.

    Granted where it was done to what was asked for, be it by a grant or by hand. What was asked
    for of another content is over: nobody can do it any more.
    """
    for row in _waiting(session, workspace_id, done.resource, done.resource_id):
        if row.content_hash == done.content_hash:
            verdict = Verdict(GRANTED, actor.name, words(done.answer), _told(done.name))
        else:
            told = {**_told(done.name), "reason": "done_otherwise"}
            verdict = Verdict(WITHDRAWN, actor.name, None, told)
        _end(session, row, verdict, actor, at)


def drop(
    session: Session,
    workspace_id: int,
    thing: tuple[str, str],
    name: str,
    actor: Actor,
    at: datetime,
) -> None:
    """End the requests that wait about a thing that is being deleted; thing: resource and id."""
    told = {**_told(name), "reason": "deleted"}
    for row in _waiting(session, workspace_id, *thing):
        _end(session, row, Verdict(WITHDRAWN, actor.name, told=told), actor, at)


def too_long(text: str | None, pointer: str) -> Refused | None:
    """Return the refusal of words that cannot be kept, or None; pointer: where they stand."""
    given = words(text) or ""
    if len(given) > LONGEST:
        params = {"longest": LONGEST}
        return Refused("words_too_long", "invalid", (Problem(pointer, "words_too_long", params),))
    if not storable(given):
        return Refused("words_invalid", "invalid", (Problem(pointer, "words_invalid"),))
    return None


def words(text: str | None) -> str | None:
    """Return a note or an answer as it is kept; None for nothing but white space."""
    return (text or "").strip() or None


def _waiting(
    session: Session, workspace_id: int, resource: str, resource_id: str
) -> list[Approval]:
    found = session.scalars(
        approval_rows.pending_rows(workspace_id, resource, resource_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return list(found)


def _decide(
    session: Session, row: Approval, verdict: Verdict, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Move a held request; whoever decides otherwise too late learns who was first."""
    late = decided(row, verdict.to)
    if isinstance(late, Refused):
        return late
    return approval_lifecycle.move(session, row.id, verdict, actor, at)


def _end(session: Session, row: Approval, verdict: Verdict, actor: Actor, at: datetime) -> None:
    """End a request that this transaction holds."""
    outcome = approval_lifecycle.move(session, row.id, verdict, actor, at)
    if isinstance(outcome, Refused):
        raise RuntimeError(f"a held request did not end: {outcome.reason}")


def _told(name: str) -> dict[str, Scalar]:
    return {"name": name} if name else {}


def _who(actor: str, at: datetime | None) -> dict[str, str | int]:
    return {"by": actor, "at": "" if at is None else at.isoformat(timespec="seconds")}
