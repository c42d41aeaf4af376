"""Hints that automations emit."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from engine.core.effects import Effect


@dataclass(frozen=True)
class WalkSteps(Effect):
    """Look at these step runs. due_at: not before; None means now."""

    sweep: ClassVar[str] = "steps"
    step_run_ids: tuple[int, ...]
    due_at: datetime | None = None


@dataclass(frozen=True)
class WorkRunJobs(Effect):
    """Go on with these acts on many runs."""

    sweep: ClassVar[str] = "run-jobs"
    job_ids: tuple[int, ...]
