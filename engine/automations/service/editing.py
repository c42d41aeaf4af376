"""Edits of a draft under its optimistic lock, undo and redo, and a revision as the draft again.

Every edit is a pure function on the document (engine.automations.editing); this stores it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.document import read_document
from engine.automations.editing import Edit
from engine.automations.models import AutomationRevision, DraftState
from engine.automations.service.finding import draft_document, find
from engine.automations.service.keeping import Act, Kept, Saved, edited_by, keep, walk
from engine.core.audit import Actor
from engine.core.db import JsonObject
from engine.core.outcome import Refused, missing

_UNDO: Final = -1
_REDO: Final = 1


@dataclass(frozen=True)
class Seen:
    """The draft as it stands now, for whoever edited an older one. version: its ETag.

    by: the actor of the newest change, "" where unknown; at: when.
    """

    document: JsonObject
    version: int
    by: str
    at: datetime


def edit(
    session: Session,
    workspace_id: int,
    public_id: str,
    version: int,
    op: Callable[[JsonObject], Edit],
    act: Act,
    actor: Actor,
    at: datetime,
) -> Saved | Refused:
    """Apply `op` to the draft and keep what it returns; act: what the history calls it.

    version: the ETag the editor has seen; another one is Refused("stale"). What `op` refuses and a
    result that is no sound document are refused; one that changes nothing writes nothing.
    """
    kept = _read(session, workspace_id, public_id, version)
    if isinstance(kept, Refused):
        return kept
    edited = op(kept.document)
    if isinstance(edited, Refused):
        return edited
    document = read_document(edited)
    if isinstance(document, Refused):
        return document
    return keep(session, kept, document, act, actor, at)


def undo(
    session: Session, workspace_id: int, public_id: str, version: int, actor: Actor, at: datetime
) -> Saved | Refused:
    """Make the state before the newest the draft; Refused("nothing_to_undo") where none is kept.

    A draft has one history, whoever edits it: what somebody else did is undone as well.
    """
    kept = _read(session, workspace_id, public_id, version)
    return kept if isinstance(kept, Refused) else _walk(session, kept, _UNDO, actor, at)


def redo(
    session: Session, workspace_id: int, public_id: str, version: int, actor: Actor, at: datetime
) -> Saved | Refused:
    """Make the state that was undone last the draft again, or Refused("nothing_to_redo")."""
    kept = _read(session, workspace_id, public_id, version)
    return kept if isinstance(kept, Refused) else _walk(session, kept, _REDO, actor, at)


def restore(
    session: Session,
    workspace_id: int,
    public_id: str,
    number: int,
    version: int,
    actor: Actor,
    at: datetime,
) -> Saved | Refused:
    """Make the frozen revision `number` the draft; what runs is not touched until a publish."""
    kept = _read(session, workspace_id, public_id, version)
    if isinstance(kept, Refused):
        return kept
    revision = AutomationRevision
    frozen = session.scalar(
        select(revision.document).where(
            revision.workspace_id == workspace_id,
            revision.automation_id == kept.row.id,
            revision.number == number,
        )
    )
    if frozen is None:
        return missing("revision_not_found")
    document = read_document(frozen)
    if isinstance(document, Refused):
        return document
    return keep(session, kept, document, Act("restore", {"number": number}), actor, at)


def current(session: Session, workspace_id: int, public_id: str) -> Seen | None:
    """Return the draft as it stands now and who changed it last; None when it is unknown."""
    row = find(session, workspace_id, public_id)
    if row is None:
        return None
    by = edited_by(session, row)
    return Seen(draft_document(session, row), row.draft_version, by, row.edited_at)


def _read(session: Session, workspace_id: int, public_id: str, version: int) -> Kept | Refused:
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    if row.draft_version != version:
        return Refused("stale")
    return Kept(row, version, draft_document(session, row))


def _walk(session: Session, kept: Kept, by: int, actor: Actor, at: datetime) -> Saved | Refused:
    state, place = DraftState, kept.row.draft_place + by
    found = session.scalar(
        select(state.document).where(
            state.workspace_id == kept.row.workspace_id,
            state.automation_id == kept.row.id,
            state.place == place,
        )
    )
    if found is None:
        return Refused("nothing_to_undo" if by == _UNDO else "nothing_to_redo")
    document = read_document(found)
    if isinstance(document, Refused):
        return document
    return walk(session, kept, place, document, Act("undo" if by == _UNDO else "redo"), actor, at)
