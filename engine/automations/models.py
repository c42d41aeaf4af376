"""Rows of automations: automation, draft steps, frozen revisions, runs, step runs, counters."""

from datetime import datetime
from typing import Final

from sqlalchemy import Index, Integer, String, Text, UniqueConstraint, text
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

DRAFT: Final = "draft"
ACTIVE: Final = "active"
PAUSED: Final = "paused"
AUTOMATION_STATUSES: Final = (DRAFT, ACTIVE, PAUSED)

RUNNING: Final = "running"
COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"
RUN_STATUSES: Final = (RUNNING, COMPLETED, CANCELLED)

PENDING: Final = "pending"
EXECUTING: Final = "executing"
FAILED: Final = "failed"
SKIPPED: Final = "skipped"
CANCEL: Final = "cancel"
HOLD: Final = "hold"
# Increments of one automation are spread over so many rows (facts 1.1).
SHARDS: Final = 8

STEP_RUN_STATUSES: Final = (PENDING, EXECUTING, COMPLETED, FAILED, SKIPPED)


class Automation(WorkspaceRow, Base):
    """An automation. Its draft is `draft_settings` and the rows of automation_steps (decision A8).

    trigger_type, trigger_config, on_pause and reentry are what is in force: those of the frozen
    revision while active or paused, those of the draft before. draft_version counts content edits
    and is the ETag. version counts activations (decision A9). stats_* are a cache that the rollup
    fills from the shards (facts 1.12).
    """

    __tablename__ = "automations"
    __table_args__ = (
        workspace_key(),
        Index("ix_automations_live", "workspace_id", "status", "trigger_type"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str | None] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(20))
    trigger_type: Mapped[str] = mapped_column(String(60))
    trigger_config: Mapped[JsonObject] = mapped_column(json_type())
    on_pause: Mapped[str] = mapped_column(String(10))
    reentry: Mapped[JsonObject] = mapped_column(json_type())
    draft_settings: Mapped[JsonObject] = mapped_column(json_type())
    draft_version: Mapped[int] = mapped_column(Integer, default=1)
    version: Mapped[int] = mapped_column(Integer, default=0)
    revision_id: Mapped[int | None] = mapped_column(Id)
    consecutive_run_failures: Mapped[int] = mapped_column(Integer, default=0)
    stats_entered: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    stats_active: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    stats_completed: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    activated_at: Mapped[datetime | None] = mapped_column(Instant)
    first_activated_at: Mapped[datetime | None] = mapped_column(Instant)
    paused_at: Mapped[datetime | None] = mapped_column(Instant)
    deleted_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    edited_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class AutomationStep(WorkspaceRow, Base):
    """One step of the draft. config has branch targets by key; next: a key, `end` or NULL."""

    __tablename__ = "automation_steps"
    __table_args__ = (
        UniqueConstraint("workspace_id", "automation_id", "key"),
        UniqueConstraint("workspace_id", "automation_id", "step_index"),
        workspace_reference("automation_id", "automations"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    automation_id: Mapped[int] = mapped_column(Id)
    step_index: Mapped[int] = mapped_column(Integer)
    key: Mapped[str] = mapped_column(String(60))
    step_type: Mapped[str] = mapped_column(String(40))
    config: Mapped[JsonObject] = mapped_column(json_type())
    next: Mapped[str | None] = mapped_column(String(60))


class AutomationRevision(WorkspaceRow, Base):
    """A frozen document. Never changed: a run is pinned to the one it started with."""

    __tablename__ = "automation_revisions"
    __table_args__ = (
        workspace_key(),
        UniqueConstraint("workspace_id", "automation_id", "number"),
        workspace_reference("automation_id", "automations"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    automation_id: Mapped[int] = mapped_column(Id)
    number: Mapped[int] = mapped_column(Integer)
    document: Mapped[JsonObject] = mapped_column(json_type())
    created_by: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime] = mapped_column(Instant)


class AutomationRun(WorkspaceChild, Base):
    """One person's way through one revision.

    steps_executed: visits that the run has left or ended at, each once however often it was tried
    (decision A7).
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


class AutomationStepRun(WorkspaceChild, Base):
    """One visit of a run to a step.

    attempt: executions so far, raised by each claim. due_at is what the sweep reads: when the step
    becomes due, its next try, or the end of the lease while claimed. delay_until: only for positive
    waits. held_at: parked because its automation is paused on hold (decision A11). result: what
    decided (rule, value, path). failures: the failed attempts, oldest first.
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
    started_at: Mapped[datetime | None] = mapped_column(Instant)
    completed_at: Mapped[datetime | None] = mapped_column(Instant)
    email_send_id: Mapped[int | None] = mapped_column(Id)
    result: Mapped[JsonObject | None] = mapped_column(json_type())
    failures: Mapped[list[JsonObject] | None] = mapped_column(json_type())
    error_code: Mapped[str | None] = mapped_column(String(60))
    error_message: Mapped[str | None] = mapped_column(String(500))


class AutomationStatShard(WorkspaceRow, Base):
    """Runs of one automation, counted up only; the sum over the shards is the truth (facts 1.1)."""

    __tablename__ = "automation_stat_shards"
    __table_args__ = (workspace_reference("automation_id", "automations"),)

    automation_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    shard: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    entered: Mapped[int] = mapped_column(Integer, default=0)
    completed: Mapped[int] = mapped_column(Integer, default=0)
    cancelled: Mapped[int] = mapped_column(Integer, default=0)


class AutomationStepStat(WorkspaceRow, Base):
    """Step runs of one step key by status; a shard alone may be negative, the sum is not."""

    __tablename__ = "automation_step_stats"
    __table_args__ = (workspace_reference("automation_id", "automations"),)

    automation_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    step_key: Mapped[str] = mapped_column(String(60), primary_key=True)
    shard: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    pending: Mapped[int] = mapped_column(Integer, default=0)
    executing: Mapped[int] = mapped_column(Integer, default=0)
    completed: Mapped[int] = mapped_column(Integer, default=0)
    failed: Mapped[int] = mapped_column(Integer, default=0)
    skipped: Mapped[int] = mapped_column(Integer, default=0)


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
