"""Reads of automations themselves: list, detail, revisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from engine.automations import checking
from engine.automations.document import Document, read_document
from engine.automations.models import (
    AUTOMATION_STATUSES,
    Automation,
    AutomationRevision,
)
from engine.automations.service import draft_document
from engine.core.db import JsonObject, next_cursor, older
from engine.core.ids import is_public_id
from engine.core.outcome import Problem, Refused


@dataclass(frozen=True)
class AutomationRow:
    """One automation as lists show it. revision: number of the frozen one in force, or None.

    etag: the draft's version, for If-Match. version: activations so far (decision A9).
    """

    row_id: int
    public_id: str
    name: str
    description: str | None
    status: str
    trigger_type: str
    trigger_config: JsonObject
    on_pause: str
    reentry: Any
    version: int
    etag: int
    revision_id: int | None
    revision: int | None
    activated_at: datetime | None
    first_activated_at: datetime | None
    paused_at: datetime | None
    created_at: datetime
    edited_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class AutomationDetail:
    """One automation with its draft, what is in force, and names to show beside the steps.

    names: by step key of the draft, for example {"hello": {"template_name": "Welcome"}}.
    shown: the document in force, or the draft where none is; shown_names belongs to it.
    problems: what would fail for certain if the draft went live.
    """

    row: AutomationRow
    draft: JsonObject
    names: Mapping[str, Mapping[str, str]]
    shown: JsonObject
    shown_names: Mapping[str, Mapping[str, str]]
    problems: tuple[Problem, ...]
    trigger_complete: bool

    @property
    def draft_differs(self) -> bool:
        """Return whether the draft differs from what is in force."""
        return self.draft != self.shown


@dataclass(frozen=True)
class RevisionRow:
    """One frozen document."""

    public_id: str
    number: int
    document: JsonObject
    created_by: str
    created_at: datetime
    in_force: bool


def page_automations(
    session: Session,
    workspace_id: int,
    status: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[AutomationRow], str | None]:
    """Return a page of automations, newest first, and the cursor of the next page."""
    query = _rows(workspace_id)
    if status in AUTOMATION_STATUSES:
        query = query.where(Automation.status == status)
    query = query.where(older(Automation.id, after)).order_by(Automation.id.desc())
    rows = [AutomationRow(*row) for row in session.execute(query.limit(limit + 1))]
    return rows[:limit], next_cursor([row.row_id for row in rows], limit)


def status_counts(session: Session, workspace_id: int) -> Mapping[str, int]:
    """Return how many automations there are by status; every status has a number."""
    row = Automation
    found = session.execute(
        select(row.status, func.count())
        .where(row.workspace_id == workspace_id, row.deleted_at.is_(None))
        .group_by(row.status)
    )
    return dict.fromkeys(AUTOMATION_STATUSES, 0) | {row[0]: row[1] for row in found}


def get_automation(session: Session, workspace_id: int, public_id: str) -> AutomationDetail | None:
    """Return one automation with draft, document in force and names; None when unknown.

    A bounded number of statements: three for the rows, one for each step kind in use.
    """
    if not is_public_id(public_id):
        return None
    found = session.execute(_rows(workspace_id).where(Automation.public_id == public_id)).first()
    if found is None:
        return None
    row = AutomationRow(*found)
    draft = draft_document(session, session.get_one(Automation, row.row_id))
    shown = _document(session, workspace_id, row.revision_id) or draft
    read = read_document(draft)
    problems = _problems(session, workspace_id, read)
    names = _names(session, workspace_id, read)
    shown_names = names if shown == draft else _names(session, workspace_id, read_document(shown))
    complete = isinstance(read, Document) and checking.trigger_complete(read)
    return AutomationDetail(row, draft, names, shown, shown_names, problems, complete)


def newest_number(session: Session, workspace_id: int, automation_id: int) -> int:
    """Return the number of an automation's newest revision, 0 where it has none; by row id."""
    revision = AutomationRevision
    number = session.scalar(
        select(func.max(revision.number)).where(
            revision.workspace_id == workspace_id, revision.automation_id == automation_id
        )
    )
    return number or 0


def page_revisions(
    session: Session,
    workspace_id: int,
    public_id: str,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[RevisionRow], str | None] | None:
    """Return a page of an automation's revisions, newest first; None when it is unknown."""
    if not is_public_id(public_id):
        return None
    owner = session.execute(_rows(workspace_id).where(Automation.public_id == public_id)).first()
    if owner is None:
        return None
    automation = AutomationRow(*owner)
    revision = AutomationRevision
    query = select(revision).where(
        revision.workspace_id == workspace_id, revision.automation_id == automation.row_id
    )
    query = query.where(older(revision.id, after)).order_by(revision.id.desc())
    rows = session.scalars(query.limit(limit + 1)).all()
    items = [
        RevisionRow(
            row.public_id,
            row.number,
            row.document,
            row.created_by,
            row.created_at,
            row.id == automation.revision_id,
        )
        for row in rows[:limit]
    ]
    return items, next_cursor([row.id for row in rows], limit)


def _rows(workspace_id: int) -> Select[*tuple[Any, ...]]:
    row, revision = Automation, AutomationRevision
    return (
        select(
            row.id,
            row.public_id,
            row.name,
            row.description,
            row.status,
            row.trigger_type,
            row.trigger_config,
            row.on_pause,
            row.reentry,
            row.version,
            row.draft_version,
            row.revision_id,
            revision.number,
            row.activated_at,
            row.first_activated_at,
            row.paused_at,
            row.created_at,
            row.edited_at,
            row.updated_at,
        )
        .outerjoin(
            revision,
            (revision.id == row.revision_id) & (revision.workspace_id == row.workspace_id),
        )
        .where(row.workspace_id == workspace_id, row.deleted_at.is_(None))
    )


def _document(session: Session, workspace_id: int, revision_id: int | None) -> JsonObject | None:
    if revision_id is None:
        return None
    return session.scalar(
        select(AutomationRevision.document).where(
            AutomationRevision.workspace_id == workspace_id, AutomationRevision.id == revision_id
        )
    )


def _problems(
    session: Session, workspace_id: int, document: Document | Refused
) -> tuple[Problem, ...]:
    if isinstance(document, Refused):
        return document.problems
    return tuple(checking.errors(session, workspace_id, document))


def _names(
    session: Session, workspace_id: int, document: Document | Refused
) -> Mapping[str, Mapping[str, str]]:
    if isinstance(document, Refused):
        return {}
    return checking.enrichment(session, workspace_id, document)
