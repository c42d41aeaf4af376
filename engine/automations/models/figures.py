"""Rows of counters: increments in shards; the sums over them are the truth (facts 1.1)."""

from typing import Final

from sqlalchemy import Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from engine.core.db import Base, Id, WorkspaceRow, workspace_reference

# Increments of one automation are spread over so many rows (facts 1.1).
SHARDS: Final = 8


class AutomationStatShard(WorkspaceRow, Base):
    """Runs of one automation; the sum over the shards is the truth, one alone may be negative."""

    __tablename__ = "automation_stat_shards"
    __table_args__ = (workspace_reference("automation_id", "automations"),)

    automation_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    shard: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    entered: Mapped[int] = mapped_column(Integer, default=0)
    completed: Mapped[int] = mapped_column(Integer, default=0)
    cancelled: Mapped[int] = mapped_column(Integer, default=0)


class AutomationStepStat(WorkspaceRow, Base):
    """Step runs of one step key by status; a shard alone may be negative, the sum is not.

    passed: of the skipped, the people who stood here and were passed on; the others never came.
    departed: of the failed, the people whose run ended around them; nothing went wrong here.
    """

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
    passed: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    departed: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
