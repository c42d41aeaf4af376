"""The reads of requests: a page of them, one, those that wait; frozen rows, never a write."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from engine.accounts.approval_lifecycle import MACHINE
from engine.accounts.models import PENDING, Approval
from engine.core.db import JsonObject, next_cursor, older

# The navigation counts no further.
MOST: Final = 1_000


@dataclass(frozen=True)
class ApprovalRow:
    """A request. resource, resource_id: the kind and the public id of the thing it is about.

    wanted: with which choices; content_hash: of what was asked for; asked_by, decided_by: actors.
    """

    public_id: str
    kind: str
    resource: str
    resource_id: str
    wanted: JsonObject
    content_hash: str
    note: str | None
    status: str
    answer: str | None
    asked_by: str
    asked_at: datetime
    decided_by: str | None
    decided_at: datetime | None

    @property
    def pending(self) -> bool:
        """Return whether nobody has decided yet."""
        return self.status == PENDING


@dataclass(frozen=True)
class Wanted:
    """Which requests; None leaves a part open. decided: whether somebody has answered."""

    status: str | None = None
    decided: bool | None = None
    asked_by: str | None = None
    resource_id: str | None = None


def page_approvals(
    session: Session, workspace_id: int, wanted: Wanted, after: str | None = None, limit: int = 50
) -> tuple[Sequence[ApprovalRow], str | None]:
    """Return a page of requests, the newest first, and the cursor of the next page."""
    row = Approval
    statement = select(row).where(row.workspace_id == workspace_id, older(row.id, after))
    statement = statement.where(*_conditions(wanted))
    rows = session.scalars(statement.order_by(row.id.desc()).limit(limit + 1)).all()
    following = next_cursor([each.id for each in rows], limit)
    return [_line(each) for each in rows[:limit]], following


def get_approval(session: Session, workspace_id: int, public_id: str) -> ApprovalRow | None:
    """Return one request of the workspace."""
    row = Approval
    found = session.scalar(
        select(row)
        .where(row.workspace_id == workspace_id, row.public_id == public_id)
        .execution_options(populate_existing=True)
    )
    return None if found is None else _line(found)


def pending_of(
    session: Session, workspace_id: int, resource: str, resource_id: str
) -> Sequence[ApprovalRow]:
    """Return the requests about one thing that wait for a decision: at most one a kind."""
    found = session.scalars(pending_rows(workspace_id, resource, resource_id))
    return [_line(each) for each in found]


def pending_rows(workspace_id: int, resource: str, resource_id: str) -> Select[Approval]:
    """Return the query of the requests about one thing that wait, in the order of locks."""
    row = Approval
    return (
        select(row)
        .where(
            row.workspace_id == workspace_id,
            MACHINE.is_(PENDING),
            row.resource == resource,
            row.resource_id == resource_id,
        )
        .order_by(row.id)
    )


def pending_count(session: Session, workspace_id: int, most: int = MOST) -> int:
    """Return how many requests wait for a decision, at most `most`; for the navigation."""
    return session.scalar(pending_number(workspace_id, most)) or 0


def pending_number(workspace_id: int, most: int = MOST) -> Select[int]:
    """Return `pending_count` as a query of one value, for a statement that asks more."""
    row = Approval
    waiting = (
        select(row.id)
        .where(row.workspace_id == workspace_id, MACHINE.is_(PENDING))
        .limit(most)
        .subquery()
    )
    return select(func.count()).select_from(waiting)


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    row = Approval
    found: list[ColumnElement[bool]] = []
    if wanted.status is not None:
        found.append(row.status == wanted.status)
    if wanted.decided is not None:
        found.append(row.status != PENDING if wanted.decided else MACHINE.is_(PENDING))
    if wanted.asked_by is not None:
        found.append(row.asked_by == wanted.asked_by)
    if wanted.resource_id is not None:
        found.append(row.resource_id == wanted.resource_id)
    return found


def _line(row: Any) -> ApprovalRow:
    return ApprovalRow(
        row.public_id,
        row.kind,
        row.resource,
        row.resource_id,
        dict(row.wanted),
        row.content_hash,
        row.note,
        row.status,
        row.answer,
        row.asked_by,
        row.asked_at,
        row.decided_by,
        row.decided_at,
    )
