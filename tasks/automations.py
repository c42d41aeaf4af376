"""Thin tasks of automations: one engine call each."""

from collections.abc import Sequence
from typing import Final

from engine.house import House
from tasks.queue import TaskKind


def walk_steps(house: House, step_run_ids: Sequence[int]) -> None:
    """Look at these step runs now; what the time budget leaves over is hinted again."""
    house.steps.walk(step_run_ids)


def work_run_jobs(house: House, job_ids: Sequence[int]) -> None:
    """Go on with these acts on many runs; what the time budget leaves over is hinted again."""
    house.jobs.walk(job_ids)


WALK_STEPS: Final = TaskKind("automations.walk_steps", walk_steps)
WORK_RUN_JOBS: Final = TaskKind("automations.work_run_jobs", work_run_jobs)
