"""Rows of acts on many runs: the job, and what became of each run."""

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

WORKING: Final = "running"
DONE: Final = "done"
HALTED: Final = "stopped"
RUN_JOB_STATUSES: Final = (WORKING, DONE, HALTED)
# What became of a run of a job.
REFUSED: Final = "refused"


class RunJob(WorkspaceRow, Base):
    """An act on every run that a filter found when it was asked for (newest first).

    wanted: the filter; first_run_id: the newest run then, later ones are left alone; cursor: the
    last run done; total: how many were counted, done and refused: so far. step_key: where to, for
    a move. due_at: when it goes on, or the end of the lease while a worker is at it.
    """

    __tablename__ = "run_jobs"
    __table_args__ = (
        workspace_key(),
        Index(
            "ix_run_jobs_due",
            "due_at",
            "id",
            sqlite_where=text("status = 'running'"),
            postgresql_where=text("status = 'running'"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    action: Mapped[str] = mapped_column(String(20))
    step_key: Mapped[str | None] = mapped_column(String(60))
    reason: Mapped[str | None] = mapped_column(String(500))
    wanted: Mapped[JsonObject] = mapped_column(json_type())
    status: Mapped[str] = mapped_column(String(20))
    first_run_id: Mapped[int] = mapped_column(Id)
    cursor: Mapped[int | None] = mapped_column(Id)
    total: Mapped[int] = mapped_column(Integer)
    done: Mapped[int] = mapped_column(Integer, default=0)
    refused: Mapped[int] = mapped_column(Integer, default=0)
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    due_at: Mapped[datetime] = mapped_column(Instant)
    lease_until: Mapped[datetime | None] = mapped_column(Instant)
    created_by: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime] = mapped_column(Instant)
    finished_at: Mapped[datetime | None] = mapped_column(Instant)


class RunJobItem(WorkspaceChild, Base):
    """What became of one run of a job."""

    __tablename__ = "run_job_items"
    __table_args__ = (
        workspace_if_embedded(),
        workspace_reference("job_id", "run_jobs"),
        Index("ix_run_job_items_workspace_id_run_id", "workspace_id", "run_id"),
    )

    job_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    run_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    outcome: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str | None] = mapped_column(String(60))
    at: Mapped[datetime] = mapped_column(Instant)
