"""Moves between statuses: activate, pause, resume, revert; publish comes later."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations import checking, lifecycle
from engine.automations.document import Document, read_document
from engine.automations.models import ACTIVE, DRAFT, Automation, AutomationRevision
from engine.automations.service.finding import draft_document, find, people_inside
from engine.core.audit import Actor
from engine.core.ids import new_public_id
from engine.core.outcome import Problem, Recorded, Refused, Transitioned, missing


@dataclass(frozen=True)
class Wish:
    """What a transition asks for beside the status (interface.md). The last three come with B."""

    to: str
    resume: str | None = None
    start_afresh: bool = False
    cancel_inside: bool = False


def move(
    session: Session, workspace_id: int, public_id: str, wish: Wish, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Activate, pause, resume or revert. Activating a draft freezes it as a revision (A8)."""
    if wish.resume is not None:
        return _later("/resume", "resume_choice_not_built")
    if wish.start_afresh:
        return _later("/start_afresh", "start_afresh_not_built")
    if wish.cancel_inside:
        return _later("/cancel_inside", "cancel_inside_not_built")
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    if wish.to == DRAFT:
        ask = lifecycle.Ask(DRAFT, inside=people_inside(session, workspace_id, row.id))
        return lifecycle.move(session, row.id, ask, actor, at)
    if wish.to != ACTIVE:
        return lifecycle.move(session, row.id, lifecycle.Ask(wish.to), actor, at)
    if row.status == DRAFT:
        return _activate(session, row, actor, at)
    return lifecycle.move(session, row.id, _resume(session, row), actor, at)


def publish(session: Session, workspace_id: int, public_id: str, stay_or_move: str) -> Refused:
    """Refuse in words: publishing over a live revision is not built yet."""
    if find(session, workspace_id, public_id) is None:
        return missing("automation_not_found")
    return _later("/people_inside", "publish_not_built", choice=stay_or_move)


def _activate(
    session: Session, row: Automation, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Freeze the draft and put it in force; a refusal leaves no revision behind."""
    content = draft_document(session, row)
    document = read_document(content)
    if isinstance(document, Refused):
        return document
    with session.begin_nested() as savepoint:
        ask = _ask(session, row, document, _freeze(session, row, content, actor, at))
        outcome = lifecycle.move(session, row.id, ask, actor, at)
        if not isinstance(outcome, Transitioned):
            savepoint.rollback()
    return outcome


def _resume(session: Session, row: Automation) -> lifecycle.Ask:
    """Return the ask of a resume: it re-checks the frozen revision and publishes nothing (A8)."""
    revision = AutomationRevision
    content = session.scalar(
        select(revision.document).where(
            revision.workspace_id == row.workspace_id, revision.id == row.revision_id
        )
    )
    document = read_document(content)
    if isinstance(document, Refused):
        return lifecycle.Ask(ACTIVE, 1, trigger_complete=True, problems=document.problems)
    return _ask(session, row, document, None)


def _ask(
    session: Session, row: Automation, document: Document, revision_id: int | None
) -> lifecycle.Ask:
    frozen = None
    if revision_id is not None:
        frozen = lifecycle.Frozen(
            revision_id,
            document.trigger_type,
            document.trigger_config,
            document.on_pause,
            document.reentry,
        )
    return lifecycle.Ask(
        ACTIVE,
        steps=len(document.steps),
        trigger_complete=checking.trigger_complete(document),
        problems=tuple(checking.errors(session, row.workspace_id, document)),
        frozen=frozen,
    )


def _freeze(
    session: Session, row: Automation, content: Mapping[str, Any], actor: Actor, at: datetime
) -> int:
    revision = AutomationRevision
    number = session.scalar(
        select(func.coalesce(func.max(revision.number), 0) + 1).where(
            revision.workspace_id == row.workspace_id, revision.automation_id == row.id
        )
    )
    frozen = AutomationRevision(
        public_id=new_public_id(),
        workspace_id=row.workspace_id,
        automation_id=row.id,
        number=number,
        document=dict(content),
        created_by=actor.name,
        created_at=at,
    )
    session.add(frozen)
    session.flush()
    return frozen.id


def _later(pointer: str, code: str, **params: str) -> Refused:
    return Refused(code, "invalid", (Problem(pointer, code, params),), params)
