"""Keeping a draft: its row, its steps and the states that undo and redo walk over (decision A8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, insert, or_, select, update
from sqlalchemy.orm import Session

from engine.automations.comparing import same
from engine.automations.document import Document, write_document
from engine.automations.models import DRAFT, Automation, AutomationStep, DraftState
from engine.automations.service.finding import subject_of
from engine.core import audit
from engine.core.audit import Actor, AuditEntry
from engine.core.db import JsonObject
from engine.core.outcome import Refused

# How many states of a draft stay; undo reaches no further back.
STATES: Final = 50
CREATED: Final = "automation.created"
UPDATED: Final = "automation.updated"
_CREATE: Final = "create"


@dataclass(frozen=True)
class Saved:
    """An automation that was created or whose draft was saved. version: the new ETag."""

    public_id: str
    version: int


@dataclass(frozen=True)
class Act:
    """What led to a state of a draft, as a code with parameters for the page to put into words.

    Codes: create, save, insert, delete, move, duplicate, configure, trigger, settings, restore,
    import; of a walk over the states: undo, redo.
    """

    code: str
    params: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """A draft as it stands, read before a change. document: what the change starts from."""

    row: Automation
    version: int
    document: JsonObject


def keep(
    session: Session, kept: Kept, wanted: Document, act: Act, actor: Actor, at: datetime
) -> Saved | Refused:
    """Replace the draft and keep it as the newest state; what was undone is forgotten.

    A change that changes nothing writes nothing and keeps the version. Refused("stale") where
    somebody else has changed the draft since `kept` was read.
    """
    row, document = kept.row, as_document(wanted)
    if same(document, kept.document):
        return Saved(row.public_id, kept.version)
    first = row.draft_place == 0
    place = 2 if first else row.draft_place + 1
    version = _land(session, kept, wanted, place, at)
    if version is None:
        return Refused("stale")
    write_steps(session, row.workspace_id, row.id, wanted)
    _forget(session, row, place)
    if first:
        # A draft from before its first change has no state yet: undo leads back to it.
        by = edited_by(session, row)
        session.add(_state(row, 1, kept.document, Act(_CREATE), by, row.edited_at))
    session.add(_state(row, place, document, act, actor.name, at))
    _tell(session, row, version, act, actor, at)
    return Saved(row.public_id, version)


def walk(
    session: Session, kept: Kept, place: int, wanted: Document, act: Act, actor: Actor, at: datetime
) -> Saved | Refused:
    """Replace the draft by the state at `place`; no state is added or lost."""
    version = _land(session, kept, wanted, place, at)
    if version is None:
        return Refused("stale")
    write_steps(session, kept.row.workspace_id, kept.row.id, wanted)
    _tell(session, kept.row, version, act, actor, at)
    return Saved(kept.row.public_id, version)


def as_document(document: Document) -> JsonObject:
    """Return the document as a draft of it will be read."""
    steps = [part.model_dump() for part in document.steps]
    return write_document(document.name, document.description, document.settings, steps)


def content(document: Document, at: datetime) -> dict[str, Any]:
    """Return the columns of an automation that its draft owns."""
    return {
        "name": document.name,
        "description": document.description,
        "draft_settings": document.settings,
        "edited_at": at,
    }


def in_force(document: Document) -> dict[str, Any]:
    """Return the columns that show what is in force; a draft that never was live shows itself."""
    return {
        "trigger_type": document.trigger_type,
        "trigger_config": document.trigger_config,
        "on_pause": document.on_pause,
        "reentry": document.reentry,
    }


def write_steps(
    session: Session, workspace_id: int, automation_id: int, document: Document
) -> None:
    """Replace the steps of a draft."""
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


def edited_by(session: Session, row: Automation) -> str:
    """Return the actor of the newest change of the draft; "" where the audit log has none any more.

    Read from the audit log, not from the states: an undo makes none.
    """
    entry, subject = AuditEntry, subject_of(row)
    found = session.scalar(
        select(entry.actor)
        .where(
            entry.workspace_id == row.workspace_id,
            entry.resource == subject.resource,
            entry.resource_id == subject.public_id,
            entry.action.in_((CREATED, UPDATED)),
        )
        .order_by(entry.id.desc())
        .limit(1)
    )
    return found or ""


def _land(session: Session, kept: Kept, wanted: Document, place: int, at: datetime) -> int | None:
    """Write the automation's row under the optimistic lock; return the new version, or None."""
    row, values = kept.row, content(wanted, at)
    if row.status == DRAFT:
        # Nothing is in force yet: the console and the API show the draft's own settings.
        values |= in_force(wanted)
    return session.execute(
        update(Automation)
        .where(
            Automation.workspace_id == row.workspace_id,
            Automation.id == row.id,
            Automation.draft_version == kept.version,
            Automation.status == row.status,
            Automation.deleted_at.is_(None),
        )
        .values(draft_version=Automation.draft_version + 1, draft_place=place, **values)
        .returning(Automation.draft_version)
        .execution_options(synchronize_session=False)
    ).scalar()


def _forget(session: Session, row: Automation, place: int) -> None:
    """Delete what was undone, which the state at `place` replaces, and what is too old."""
    state = DraftState
    session.execute(
        delete(state)
        .where(
            state.workspace_id == row.workspace_id,
            state.automation_id == row.id,
            or_(state.place >= place, state.place <= place - STATES),
        )
        .execution_options(synchronize_session=False)
    )


def _state(
    row: Automation, place: int, document: JsonObject, act: Act, by: str, at: datetime
) -> DraftState:
    return DraftState(
        workspace_id=row.workspace_id,
        automation_id=row.id,
        place=place,
        document=document,
        act=act.code,
        params=dict(act.params),
        created_by=by,
        created_at=at,
    )


def _tell(
    session: Session, row: Automation, version: int, act: Act, actor: Actor, at: datetime
) -> None:
    details = {**act.params, "draft_version": version, "act": act.code}
    audit.record(session, subject_of(row), UPDATED, actor, at, details)
