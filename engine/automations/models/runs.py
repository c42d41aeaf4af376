"""Rows of runs: one person's way, each visit to a step, and who has entered."""

from datetime import datetime
from typing import Final

from sqlalchemy import Index, Integer, String, text
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
    workspace_key,
    workspace_reference,
)

RUNNING: Final = "running"
COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"
RUN_STATUSES: Final = (RUNNING, COMPLETED, CANCELLED)

PENDING: Final = "pending"
EXECUTING: Final = "executing"
FAILED: Final = "failed"
SKIPPED: Final = "skipped"
STEP_RUN_STATUSES: Final = (PENDING, EXECUTING, COMPLETED, FAILED, SKIPPED)


class AutomationRun(WorkspaceChild, Base):
    """One person's way through one revision.

    steps_executed: visits that the run has left or ended at, each once however often it was tried
    (decision A7). failed_step_key, error_code, error_message: the step that failed for good, kept
    until the run goes on; attention_at: since when it waits for a person to look at that.
    """

    __tablename__ = "automation_runs"
    __table_args__ = (
        workspace_key(),
        workspace_if_embedded(),
        workspace_reference("automation_id", "automations"),
        workspace_reference("contact_id", "contacts"),
        Index(
            "uq_automation_runs_running",
            "automation_id",
            "contact_id",
            unique=True,
            sqlite_where=text("status = 'running'"),
            postgresql_where=text("status = 'running'"),
        ),
        Index("ix_automation_runs_workspace_id_contact_id_id", "workspace_id", "contact_id", "id"),
        # What failed last, beside any number of runs that ended otherwise.
        Index(
            "ix_automation_runs_step_failed",
            "automation_id",
            "completed_at",
            "id",
            sqlite_where=text("ended_reason = 'step_failed'"),
            postgresql_where=text("ended_reason = 'step_failed'"),
        ),
        Index(
            "ix_automation_runs_workspace_id_automation_id_status_id",
            "workspace_id",
            "automation_id",
            "status",
            "id",
        ),
        Index("ix_automation_runs_workspace_id_started_at_id", "workspace_id", "started_at", "id"),
        Index(
            "ix_automation_runs_failed",
            "workspace_id",
            "id",
            sqlite_where=text("error_code IS NOT NULL"),
            postgresql_where=text("error_code IS NOT NULL"),
        ),
        # One row for 500 equal errors is counted from this index alone.
        Index(
            "ix_automation_runs_attention",
            "workspace_id",
            "automation_id",
            "failed_step_key",
            "error_code",
            "id",
            sqlite_where=text("attention_at IS NOT NULL"),
            postgresql_where=text("attention_at IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    automation_id: Mapped[int] = mapped_column(Id)
    revision_id: Mapped[int] = mapped_column(Id)
    contact_id: Mapped[int] = mapped_column(Id)
    event_id: Mapped[int | None] = mapped_column(Id)
    status: Mapped[str] = mapped_column(String(20))
    current_step_index: Mapped[int] = mapped_column(Integer, default=0)
    steps_executed: Mapped[int] = mapped_column(Integer, default=0)
    triggered_by: Mapped[str] = mapped_column(String(60))
    trigger_data: Mapped[JsonObject | None] = mapped_column(json_type())
    next_step_at: Mapped[datetime | None] = mapped_column(Instant)
    started_at: Mapped[datetime] = mapped_column(Instant)
    completed_at: Mapped[datetime | None] = mapped_column(Instant)
    ended_reason: Mapped[str | None] = mapped_column(String(60))
    failed_step_key: Mapped[str | None] = mapped_column(String(60))
    error_code: Mapped[str | None] = mapped_column(String(60))
    error_message: Mapped[str | None] = mapped_column(String(500))
    attention_at: Mapped[datetime | None] = mapped_column(Instant)


class AutomationStepRun(WorkspaceChild, Base):
    """One visit of a run to a step.

    attempt: executions so far, raised by each claim; a thousand less one more each time the visit
    was put off (`run_lifecycle.tries`). due_at is what the sweep reads: when the step
    becomes due, its next try, or the end of the lease while claimed. delay_until: only for positive
    waits. held_at: parked because its automation is paused on hold (decision A11). result: what
    decided (rule, value, path). failures: the failed attempts, oldest first. awaits: the name of
    the event that ends the wait early; heard: that event, once it came.
    """

    __tablename__ = "automation_step_runs"
    __table_args__ = (
        workspace_if_embedded(),
        workspace_reference("automation_run_id", "automation_runs"),
        Index(
            "ix_automation_step_runs_pending",
            "due_at",
            "id",
            sqlite_where=text("status = 'pending' AND held_at IS NULL"),
            postgresql_where=text("status = 'pending' AND held_at IS NULL"),
        ),
        Index(
            "ix_automation_step_runs_executing",
            "due_at",
            "id",
            sqlite_where=text("status = 'executing' AND held_at IS NULL"),
            postgresql_where=text("status = 'executing' AND held_at IS NULL"),
        ),
        Index("ix_automation_step_runs_automation_run_id_id", "automation_run_id", "id"),
        Index(
            "ix_automation_step_runs_awaits",
            "workspace_id",
            "awaits",
            "automation_run_id",
            sqlite_where=text("status = 'pending' AND awaits IS NOT NULL"),
            postgresql_where=text("status = 'pending' AND awaits IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    automation_run_id: Mapped[int] = mapped_column(Id)
    step_index: Mapped[int] = mapped_column(Integer)
    step_key: Mapped[str] = mapped_column(String(60))
    step_type: Mapped[str] = mapped_column(String(40))
    status: Mapped[str] = mapped_column(String(20))
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    scheduled_at: Mapped[datetime] = mapped_column(Instant)
    delay_until: Mapped[datetime | None] = mapped_column(Instant)
    due_at: Mapped[datetime] = mapped_column(Instant)
    lease_until: Mapped[datetime | None] = mapped_column(Instant)
    held_at: Mapped[datetime | None] = mapped_column(Instant)
    awaits: Mapped[str | None] = mapped_column(String(100))
    heard: Mapped[JsonObject | None] = mapped_column(json_type())
    started_at: Mapped[datetime | None] = mapped_column(Instant)
    completed_at: Mapped[datetime | None] = mapped_column(Instant)
    email_send_id: Mapped[int | None] = mapped_column(Id)
    result: Mapped[JsonObject | None] = mapped_column(json_type())
    failures: Mapped[list[JsonObject] | None] = mapped_column(json_type())
    error_code: Mapped[str | None] = mapped_column(String(60))
    error_message: Mapped[str | None] = mapped_column(String(500))


class RunMove(WorkspaceChild, Base):
    """A publish took a run to another revision: from this visit on it goes by the new one (A8)."""

    __tablename__ = "automation_run_moves"
    __table_args__ = (
        workspace_if_embedded(),
        workspace_reference("automation_run_id", "automation_runs"),
        Index("ix_automation_run_moves_automation_run_id_id", "automation_run_id", "id"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    automation_run_id: Mapped[int] = mapped_column(Id)
    step_run_id: Mapped[int] = mapped_column(Id)
    from_revision_id: Mapped[int] = mapped_column(Id)
    to_revision_id: Mapped[int] = mapped_column(Id)
    moved_at: Mapped[datetime] = mapped_column(Instant)


class AutomationEntry(WorkspaceRow, Base):
    """When a person last entered an automation that limits re-entry (decision A15).

    Outlives the runs, which the retention prunes; its row is what makes `once` exact.
    """

    __tablename__ = "automation_entries"
    __table_args__ = (
        workspace_reference("automation_id", "automations"),
        workspace_reference("contact_id", "contacts"),
        Index("ix_automation_entries_workspace_id_contact_id", "workspace_id", "contact_id"),
    )

    automation_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    contact_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    entered_at: Mapped[datetime] = mapped_column(Instant)
