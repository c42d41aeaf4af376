"""What an activation, a resume or a publish puts in force, and freezing a draft for it (A8)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.accounts.service import approvals
from engine.automations import checking
from engine.automations.document import Document, digest, read_document
from engine.automations.lifecycle import Ask, Frozen
from engine.automations.models import ACTIVE, Automation, AutomationRevision
from engine.automations.service.finding import RESOURCE
from engine.core.audit import Actor
from engine.core.db import JsonObject
from engine.core.ids import new_public_id
from engine.core.outcome import Refused


def content_in_force(session: Session, row: Automation) -> tuple[int, JsonObject] | None:
    """Return number and document of the revision in force; None where none is."""
    revision = AutomationRevision
    found = session.execute(
        select(revision.number, revision.document).where(
            revision.workspace_id == row.workspace_id, revision.id == row.revision_id
        )
    ).first()
    return None if found is None else (found[0], found[1])


def checked(session: Session, row: Automation, document: Document, to: str = ACTIVE) -> Ask:
    """Return the ask for `to` with the findings on the document that would be in force."""
    return Ask(
        to,
        steps=len(document.steps),
        trigger_complete=checking.trigger_complete(document),
        problems=tuple(checking.errors(session, row.workspace_id, document)),
    )


def resuming(session: Session, row: Automation, *, afresh: bool) -> Ask:
    """Return the ask of a resume: it re-checks the frozen revision and publishes nothing (A8)."""
    found = content_in_force(session, row)
    document = read_document(found[1]) if found else Refused("invalid_document")
    if isinstance(document, Refused):
        problems = document.problems
        return Ask(ACTIVE, 1, trigger_complete=True, problems=problems, afresh=afresh)
    return replace(checked(session, row, document), on_pause=document.on_pause, afresh=afresh)


def freeze(
    session: Session,
    row: Automation,
    content: Mapping[str, Any],
    document: Document,
    actor: Actor,
    at: datetime,
) -> Frozen:
    """Keep the draft as an immutable revision with the next number."""
    revision = AutomationRevision
    number = session.scalar(
        select(func.coalesce(func.max(revision.number), 0) + 1).where(
            revision.workspace_id == row.workspace_id, revision.automation_id == row.id
        )
    )
    kept = AutomationRevision(
        public_id=new_public_id(),
        workspace_id=row.workspace_id,
        automation_id=row.id,
        number=number,
        document=dict(content),
        created_by=actor.name,
        created_at=at,
    )
    session.add(kept)
    session.flush()
    return Frozen(
        kept.id,
        kept.number,
        document.trigger_type,
        document.trigger_config,
        document.on_pause,
        document.reentry,
    )


def answer_requests(
    session: Session,
    row: Automation,
    content: JsonObject,
    answer: str | None,
    actor: Actor,
    at: datetime,
) -> None:
    """Tell who asked for an activation or a publish that `content` is in force now (decision G10).

    answer: words to them. The caller holds the automation's row.
    """
    done = approvals.Done(RESOURCE, row.public_id, row.name, digest(content), answer)
    approvals.settle(session, row.workspace_id, done, actor, at)
