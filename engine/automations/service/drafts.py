"""Drafts: create, save and delete. What runs is never touched (decision A8)."""

from collections.abc import Mapping
from datetime import datetime
from itertools import count
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.accounts.service import approvals
from engine.automations import holding, lifecycle, run_lifecycle
from engine.automations.document import MAX_NAME, read_document
from engine.automations.models import ACTIVE, Automation, AutomationRun
from engine.automations.service.finding import RESOURCE, draft_document, find, subject_of
from engine.automations.service.keeping import (
    CREATED,
    Act,
    Kept,
    Saved,
    content,
    in_force,
    keep,
    write_steps,
)
from engine.core import audit
from engine.core.audit import Actor
from engine.core.ids import new_public_id
from engine.core.outcome import Refused, missing

COPY: Final = "Copy"


def create(
    session: Session,
    workspace_id: int,
    raw: object,
    actor: Actor,
    at: datetime,
    *,
    imported: bool = False,
) -> Saved | Refused:
    """Create a draft from a document; refuse it with every structural fault (decision A8).

    imported: it came out of a file, as its audit line then says.
    """
    details: dict[str, audit.Scalar] = {"imported": True} if imported else {}
    return _create(session, workspace_id, raw, actor, at, details)


def duplicate(
    session: Session,
    workspace_id: int,
    public_id: str,
    actor: Actor,
    at: datetime,
    word: str = COPY,
) -> Saved | Refused:
    """Create a draft with the same settings and steps, verbatim, and counts of zero (facts 1.14).

    Its name is the old one with `word` behind it, the second one with a number: “Trial (Copy 2)”.
    word: in the language of whoever asks; it is stored.
    """
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    draft = draft_document(session, row)
    name = _name_of_copy(session, workspace_id, draft["name"], word)
    details = {"copied_from": public_id}
    return _create(session, workspace_id, {**draft, "name": name}, actor, at, details)


def _name_of_copy(session: Session, workspace_id: int, name: str, word: str) -> str:
    row = Automation
    known = select(row.id).where(row.workspace_id == workspace_id, row.deleted_at.is_(None))
    for number in count(1):
        behind = f" ({word})" if number == 1 else f" ({word} {number})"
        wanted = name[: MAX_NAME - len(behind)].rstrip() + behind
        if session.scalar(known.where(row.name == wanted).limit(1)) is None:
            break
    return wanted


def save(
    session: Session,
    workspace_id: int,
    public_id: str,
    raw: object,
    version: int,
    actor: Actor,
    at: datetime,
) -> Saved | Refused:
    """Replace the draft; what runs is not touched (decision A8).

    version: the ETag the writer has seen; another one is Refused("stale"). A document that says
    what the draft says already writes nothing and keeps the version.
    """
    document = read_document(raw)
    if isinstance(document, Refused):
        return document
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    if row.draft_version != version:
        return Refused("stale")
    kept = Kept(row, version, draft_document(session, row))
    return keep(session, kept, document, Act("save"), actor, at)


def remove(
    session: Session, workspace_id: int, public_id: str, actor: Actor, at: datetime
) -> int | Refused:
    """Delete an automation softly (decision A3); return how many runs were cancelled.

    Refused while active. Runs and log stay readable. A request that waits about it is over.
    """
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    gone = session.execute(
        update(Automation)
        .where(
            Automation.workspace_id == workspace_id,
            Automation.id == row.id,
            Automation.status != ACTIVE,
            Automation.deleted_at.is_(None),
        )
        .values(deleted_at=at)
        .returning(Automation.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if gone is None:
        return Refused("active_cannot_be_deleted")
    approvals.drop(session, workspace_id, (RESOURCE, public_id), row.name, actor, at)
    where = [AutomationRun.workspace_id == workspace_id, AutomationRun.automation_id == row.id]
    cancelled = holding.cancel_inside(session, where, run_lifecycle.AUTOMATION_DELETED, at)
    audit.record(
        session, subject_of(row), "automation.deleted", actor, at, {"runs_cancelled": cancelled}
    )
    return cancelled


def _create(
    session: Session,
    workspace_id: int,
    raw: object,
    actor: Actor,
    at: datetime,
    details: Mapping[str, audit.Scalar],
) -> Saved | Refused:
    document = read_document(raw)
    if isinstance(document, Refused):
        return document
    row = Automation(
        public_id=new_public_id(),
        workspace_id=workspace_id,
        draft_version=1,
        created_at=at,
        updated_at=at,
        **content(document, at),
        **in_force(document),
        **lifecycle.new_status(),
    )
    session.add(row)
    session.flush()
    write_steps(session, workspace_id, row.id, document)
    details = {"name": row.name, **details}
    audit.record(session, subject_of(row), CREATED, actor, at, details)
    return Saved(row.public_id, row.draft_version)
