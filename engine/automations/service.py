"""The verbs of automations: create, save, delete, move between statuses. Never commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from engine.automations import checking, lifecycle, run_lifecycle
from engine.automations.document import Document, read_document, write_document
from engine.automations.models import (
    ACTIVE,
    DRAFT,
    RUNNING,
    Automation,
    AutomationRevision,
    AutomationRun,
    AutomationStep,
)
from engine.core import audit
from engine.core.audit import Actor
from engine.core.ids import new_public_id
from engine.core.outcome import Problem, Recorded, Refused, Transitioned, missing

RESOURCE: Final = "automation"


@dataclass(frozen=True)
class Saved:
    """An automation that was created or whose draft was saved. version: the new ETag."""

    public_id: str
    version: int


@dataclass(frozen=True)
class Wish:
    """What a transition asks for beside the status (interface.md). The last three come with B."""

    to: str
    resume: str | None = None
    start_afresh: bool = False
    cancel_inside: bool = False


def create(
    session: Session, workspace_id: int, raw: object, actor: Actor, at: datetime
) -> Saved | Refused:
    """Create a draft from a document; refuse it with every structural fault (decision A8)."""
    document = read_document(raw)
    if isinstance(document, Refused):
        return document
    row = Automation(
        public_id=new_public_id(),
        workspace_id=workspace_id,
        draft_version=1,
        created_at=at,
        updated_at=at,
        **_content(document, at),
        **_in_force(document),
        **lifecycle.new_status(),
    )
    session.add(row)
    session.flush()
    _write_steps(session, workspace_id, row.id, document)
    audit.record(session, _subject(row), "automation.created", actor, at, {"name": row.name})
    return Saved(row.public_id, row.draft_version)


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

    version: the ETag the writer has seen; another one is Refused("stale").
    """
    document = read_document(raw)
    if isinstance(document, Refused):
        return document
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    values = _content(document, at)
    if row.status == DRAFT:
        # Nothing is in force yet: the console and the API show the draft's own settings.
        values |= _in_force(document)
    landed = session.execute(
        update(Automation)
        .where(
            Automation.workspace_id == workspace_id,
            Automation.id == row.id,
            Automation.draft_version == version,
            Automation.status == row.status,
        )
        .values(draft_version=Automation.draft_version + 1, **values)
        .returning(Automation.draft_version)
        .execution_options(synchronize_session=False)
    ).scalar()
    if landed is None:
        return Refused("stale")
    _write_steps(session, workspace_id, row.id, document)
    audit.record(session, _subject(row), "automation.updated", actor, at, {"draft_version": landed})
    return Saved(public_id, landed)


def remove(
    session: Session, workspace_id: int, public_id: str, actor: Actor, at: datetime
) -> int | Refused:
    """Delete an automation softly (decision A3); return how many runs were cancelled.

    Refused while active. Runs and log stay readable.
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
        .values(deleted_at=at, edited_at=at)
        .returning(Automation.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if gone is None:
        return Refused("active_cannot_be_deleted")
    where = [AutomationRun.workspace_id == workspace_id, AutomationRun.automation_id == row.id]
    cancelled = run_lifecycle.cancel_where(session, where, run_lifecycle.AUTOMATION_DELETED, at)
    audit.record(
        session, _subject(row), "automation.deleted", actor, at, {"runs_cancelled": cancelled}
    )
    return cancelled


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


def publish(session: Session, workspace_id: int, public_id: str, people_inside: str) -> Refused:
    """Refuse in words: publishing over a live revision is not built yet."""
    if find(session, workspace_id, public_id) is None:
        return missing("automation_not_found")
    return _later("/people_inside", "publish_not_built", choice=people_inside)


def find(session: Session, workspace_id: int, public_id: str) -> Automation | None:
    """Return the automation, or None when unknown, foreign or deleted."""
    return session.scalar(
        select(Automation)
        .where(
            Automation.workspace_id == workspace_id,
            Automation.public_id == public_id,
            Automation.deleted_at.is_(None),
        )
        .execution_options(populate_existing=True)
    )


def people_inside(session: Session, workspace_id: int, automation_id: int) -> int:
    """Return how many people have a running run."""
    run = AutomationRun
    return (
        session.scalar(
            select(func.count())
            .select_from(run)
            .where(
                run.workspace_id == workspace_id,
                run.automation_id == automation_id,
                run.status == RUNNING,
            )
        )
        or 0
    )


def draft_document(session: Session, row: Automation) -> dict[str, Any]:
    """Return the draft as a document."""
    step = AutomationStep
    steps = session.execute(
        select(step.key, step.step_type, step.config, step.next)
        .where(step.workspace_id == row.workspace_id, step.automation_id == row.id)
        .order_by(step.step_index)
    )
    parts = [{"key": s[0], "type": s[1], "config": s[2], "next": s[3]} for s in steps]
    return write_document(row.name, row.description, row.draft_settings, parts)


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


def _content(document: Document, at: datetime) -> dict[str, Any]:
    return {
        "name": document.name,
        "description": document.description,
        "draft_settings": document.settings,
        "edited_at": at,
    }


def _in_force(document: Document) -> dict[str, Any]:
    return {
        "trigger_type": document.trigger_type,
        "trigger_config": document.trigger_config,
        "on_pause": document.on_pause,
        "reentry": document.reentry,
    }


def _write_steps(
    session: Session, workspace_id: int, automation_id: int, document: Document
) -> None:
    step = AutomationStep
    session.execute(
        delete(step).where(step.workspace_id == workspace_id, step.automation_id == automation_id)
    )
    rows: Sequence[Mapping[str, Any]] = [
        {
            "workspace_id": workspace_id,
            "automation_id": automation_id,
            "step_index": index,
            "key": part.key,
            "step_type": part.type,
            "config": part.config,
            "next": part.next,
        }
        for index, part in enumerate(document.steps)
    ]
    if rows:
        session.execute(insert(step), rows)


def _later(pointer: str, code: str, **params: str) -> Refused:
    return Refused(code, "invalid", (Problem(pointer, code, params),), params)


def _subject(row: Automation) -> audit.Subject:
    return audit.Subject(row.workspace_id, RESOURCE, row.public_id)
