"""Rows of answers: what triggers said, what has fired, how far a scan of time has looked."""

from datetime import datetime
from typing import Final

from sqlalchemy import Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from engine.core.db import (
    Base,
    Id,
    Instant,
    JsonObject,
    WorkspaceChild,
    WorkspaceRow,
    json_type,
    workspace_if_embedded,
    workspace_reference,
)

ENTERED: Final = "entered"
REFUSED: Final = "refused"
DECISIONS: Final = (ENTERED, REFUSED)


class TriggerDecision(WorkspaceChild, Base):
    """What an automation said to one event that its trigger matched; kept per retention.

    decision: entered or refused; reason: why not, as a code; details: what decided (the run's
    public id, an instant, a limit). event_id is no key: the event may be forgotten first.
    """

    __tablename__ = "trigger_decisions"
    __table_args__ = (
        workspace_if_embedded(),
        workspace_reference("automation_id", "automations"),
        workspace_reference("contact_id", "contacts"),
        Index(
            "ix_trigger_decisions_workspace_id_contact_id_automation_id_id",
            "workspace_id",
            "contact_id",
            "automation_id",
            "id",
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    automation_id: Mapped[int] = mapped_column(Id)
    automation_version: Mapped[int] = mapped_column(Integer)
    contact_id: Mapped[int] = mapped_column(Id)
    event_id: Mapped[int | None] = mapped_column(Id)
    decision: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str | None] = mapped_column(String(40))
    details: Mapped[JsonObject | None] = mapped_column(json_type())
    decided_at: Mapped[datetime] = mapped_column(Instant)


class FiredLedger(WorkspaceRow, Base):
    """Which crossings have fired in this activation: the key makes once exact (facts 1.16)."""

    __tablename__ = "automation_fired_ledger"
    __table_args__ = (workspace_reference("automation_id", "automations"),)

    automation_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    automation_version: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    entity_key: Mapped[str] = mapped_column(String(120), primary_key=True)
    fired_at: Mapped[datetime] = mapped_column(Instant)


class ScanState(WorkspaceRow, Base):
    """How far a trigger that ripens with time has looked, per activation (facts 1.16, S1)."""

    __tablename__ = "automation_scan_state"
    __table_args__ = (workspace_reference("automation_id", "automations"),)

    automation_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    automation_version: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    trigger_type: Mapped[str] = mapped_column(String(60), primary_key=True)
    cursor: Mapped[str] = mapped_column(Text)
    scanned_through: Mapped[datetime] = mapped_column(Instant)
    last_scanned_at: Mapped[datetime | None] = mapped_column(Instant)
