"""The rows of product events, and how one is written."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Index, Integer, String, func, text, true
from sqlalchemy.orm import Mapped, Session, mapped_column

from engine.core.audit import Actor, Scalar
from engine.core.db import Base, Id, Instant, JsonObject, WorkspaceRow, among, json_type
from engine.core.ids import new_public_id
from engine.core.pruning import Slice, delete_all, oldest

# How long an event is kept, delivered or not; without a receiver the rows only wait for this.
KEPT: Final = timedelta(days=30)
_WAITING: Final = "delivered_at IS NULL"


class ProductEvent(WorkspaceRow, Base):
    """One event for the product's own analytics. public_id: what the receiver tells doubles by.

    due_at: the next try, or the end of the lease while a sweep holds it.
    """

    __tablename__ = "product_events"
    __table_args__ = (
        Index(
            "ix_product_events_waiting",
            "due_at",
            "id",
            sqlite_where=text(_WAITING),
            postgresql_where=text(_WAITING),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    name: Mapped[str] = mapped_column(String(80))
    actor: Mapped[str] = mapped_column(String(120))
    properties: Mapped[JsonObject] = mapped_column(json_type())
    occurred_at: Mapped[datetime] = mapped_column(Instant)
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    due_at: Mapped[datetime] = mapped_column(Instant)
    delivered_at: Mapped[datetime | None] = mapped_column(Instant)


def record(
    session: Session,
    workspace_id: int,
    name: str,
    actor: Actor,
    properties: Mapping[str, Scalar],
    at: datetime,
) -> None:
    """Add one event, to be sent after the caller's commit.

    name: the receiver's word for it, for example `automation_paused`. properties: flat, public ids
    and statuses only, never data of a person. The actor may be the system (facts T-C22).
    """
    session.add(
        ProductEvent(
            public_id=f"pev_{new_public_id()}",
            workspace_id=workspace_id,
            name=name,
            actor=actor.name,
            properties=dict(properties),
            occurred_at=at,
            due_at=at,
        )
    )


def outdated(session: Session, at: datetime, after: int) -> Slice:
    """Return events delivered, or waiting in vain, for longer than KEPT; all workspaces."""
    row = ProductEvent
    old = func.coalesce(row.delivered_at, row.occurred_at) < at - KEPT
    return oldest(session, row, true(), old, row.occurred_at < at - KEPT, after)


def forget(session: Session, event_ids: Sequence[int]) -> int:
    """Delete events; return how many went."""
    return delete_all(session, ProductEvent, among(session, ProductEvent.id, event_ids))
