"""Rows of automations: automation, draft steps, frozen revisions, the states of a draft."""

from datetime import datetime
from typing import Final

from sqlalchemy import Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from engine.core.db import (
    Base,
    Id,
    Instant,
    JsonObject,
    WorkspaceRow,
    json_type,
    workspace_key,
    workspace_reference,
)

DRAFT: Final = "draft"
ACTIVE: Final = "active"
PAUSED: Final = "paused"
AUTOMATION_STATUSES: Final = (DRAFT, ACTIVE, PAUSED)

CANCEL: Final = "cancel"
HOLD: Final = "hold"


class Automation(WorkspaceRow, Base):
    """An automation. Its draft is `draft_settings` and the rows of automation_steps (decision A8).

    trigger_type, trigger_config, on_pause and reentry are what is in force: those of the frozen
    revision while active or paused, those of the draft before. draft_version counts content edits
    and is the ETag; draft_place: where undo and redo stand in automation_draft_states. version
    counts activations (decision A9). stats_* are a cache that the rollup fills from the shards
    (facts 1.12).
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
    draft_place: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
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


class DraftState(WorkspaceRow, Base):
    """One state of a draft; undo and redo walk over them by `place`, the newest stay.

    act, params: what led to it, as a code with parameters. document: the whole draft.
    """

    __tablename__ = "automation_draft_states"
    __table_args__ = (
        UniqueConstraint("workspace_id", "automation_id", "place"),
        workspace_reference("automation_id", "automations"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    automation_id: Mapped[int] = mapped_column(Id)
    place: Mapped[int] = mapped_column(Integer)
    document: Mapped[JsonObject] = mapped_column(json_type())
    act: Mapped[str] = mapped_column(String(40))
    params: Mapped[JsonObject] = mapped_column(json_type())
    created_by: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime] = mapped_column(Instant)
