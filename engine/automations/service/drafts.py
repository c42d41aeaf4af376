"""Drafts: create, save and delete. What runs is never touched (decision A8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, insert, update
from sqlalchemy.orm import Session

from engine.automations import holding, lifecycle, run_lifecycle
from engine.automations.document import MAX_NAME, Document, read_document
from engine.automations.models import (
    ACTIVE,
    DRAFT,
    Automation,
    AutomationRun,
    AutomationStep,
)
from engine.automations.service.finding import draft_document, find, subject_of
from engine.core import audit
from engine.core.audit import Actor
from engine.core.ids import new_public_id
from engine.core.outcome import Refused, missing

COPY: Final = " (Copy)"


@dataclass(frozen=True)
class Saved:
    """An automation that was created or whose draft was saved. version: the new ETag."""

    public_id: str
    version: int


def create(
    session: Session, workspace_id: int, raw: object, actor: Actor, at: datetime
) -> Saved | Refused:
    """Create a draft from a document; refuse it with every structural fault (decision A8)."""
    return _create(session, workspace_id, raw, actor, at, {})


def duplicate(
    session: Session, workspace_id: int, public_id: str, actor: Actor, at: datetime
) -> Saved | Refused:
    """Create a draft with the same settings and steps, verbatim, and counts of zero (facts 1.14).

    Its name is the old one with COPY behind it, in every language: it is stored.
    """
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    content = draft_document(session, row)
    name = content["name"][: MAX_NAME - len(COPY)].rstrip() + COPY
    details = {"copied_from": public_id}
    return _create(session, workspace_id, {**content, "name": name}, actor, at, details)


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
    audit.record(
        session, subject_of(row), "automation.updated", actor, at, {"draft_version": landed}
    )
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
        .values(deleted_at=at)
        .returning(Automation.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if gone is None:
        return Refused("active_cannot_be_deleted")
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
        **_content(document, at),
        **_in_force(document),
        **lifecycle.new_status(),
    )
    session.add(row)
    session.flush()
    _write_steps(session, workspace_id, row.id, document)
    details = {"name": row.name, **details}
    audit.record(session, subject_of(row), "automation.created", actor, at, details)
    return Saved(row.public_id, row.draft_version)


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
