"""The audit log: who did what to which thing. One writer, flat details (facts 6.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, Session, mapped_column

from engine.core.db import Base, Id, Instant, JsonObject, WorkspaceRow, among, json_type
from engine.core.pruning import Slice, delete_all, oldest

Scalar = str | int | float | bool | None


class AuditEntry(WorkspaceRow, Base):
    """One line of the audit log. Ids in it are public ids."""

    __tablename__ = "audit_log"
    __table_args__ = (
        Index("ix_audit_log_workspace_id_id", "workspace_id", "id"),
        Index(
            "ix_audit_log_workspace_id_resource_resource_id_id",
            "workspace_id",
            "resource",
            "resource_id",
            "id",
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    actor: Mapped[str] = mapped_column(String(120))
    action: Mapped[str] = mapped_column(String(80))
    resource: Mapped[str] = mapped_column(String(40))
    resource_id: Mapped[str | None] = mapped_column(String(40))
    details: Mapped[JsonObject] = mapped_column(json_type())
    ip_address: Mapped[str | None] = mapped_column(String(45))
    user_agent: Mapped[str | None] = mapped_column(String(300))
    created_at: Mapped[datetime] = mapped_column(Instant)


@dataclass(frozen=True)
class Actor:
    """Who acts: `user:<public id>`, `key:<public id>` or `system:<what>`."""

    name: str
    ip_address: str | None = None
    user_agent: str | None = None


def system(what: str) -> Actor:
    """Return the actor of the product itself, for example `system:automation-breaker`."""
    return Actor(f"system:{what}")


@dataclass(frozen=True)
class Subject:
    """What an entry is about: kind of thing and its public id."""

    workspace_id: int
    resource: str
    public_id: str | None


def record(
    session: Session,
    subject: Subject,
    action: str,
    actor: Actor,
    at: datetime,
    details: Mapping[str, Scalar] | None = None,
) -> None:
    """Add one line. `details` are flat scalars without secrets."""
    session.add(
        AuditEntry(
            workspace_id=subject.workspace_id,
            actor=actor.name,
            action=action,
            resource=subject.resource,
            resource_id=subject.public_id,
            details=dict(details or {}),
            ip_address=actor.ip_address,
            user_agent=(actor.user_agent or "")[:300] or None,
            created_at=at,
        )
    )


def outdated(session: Session, workspace_id: int, before: datetime, after: int) -> Slice:
    """Return a workspace's lines of before `before`, behind the row id `after`."""
    row = AuditEntry
    old = row.created_at < before
    return oldest(session, row, row.workspace_id == workspace_id, old, old, after)


def forget(session: Session, line_ids: Sequence[int]) -> int:
    """Delete lines; return how many went."""
    return delete_all(session, AuditEntry, among(session, AuditEntry.id, line_ids))
