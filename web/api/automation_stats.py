"""Figures of an automation by API: runs, and visits by step (facts 1.15)."""

from typing import Any

from pydantic import Field

from engine.automations import queries
from engine.automations.queries import Figures, StepFigures
from web.api.automations import UNKNOWN, area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, Out


class StepStats(Out):
    """Visits to one step by status. type: empty where no kept revision knows the key any more."""

    key: str
    type: str
    pending: int
    executing: int
    completed: int
    failed: int
    skipped: int
    total: int = Field(description="the sum of the five before")


class AutomationStats(Out):
    """An automation in numbers.

    running: inside now; cancelled: entered, neither running nor completed. steps: in the order of
    the document in force, then those that only older revisions had.
    """

    total_entered: int
    running: int
    completed: int
    cancelled: int
    total_step_runs: int
    completed_step_runs: int
    failed_step_runs: int
    emails_sent: int = Field(description="completed visits to steps that send")
    completion_rate: float = Field(description="completed per hundred entered, one decimal")
    steps: list[StepStats]


@area.get("/automations/<id>/stats", "automations:read", AutomationStats)
def read_automation_stats(call: Call, path: ById) -> Result:
    """Read how many people entered, are inside, finished, and what happened at each step."""
    found = queries.figures(call.session, call.workspace_id, path.id)
    return UNKNOWN if found is None else Answer(AutomationStats(**_stats(found)))


def _stats(found: Figures) -> dict[str, Any]:
    return {
        "total_entered": found.tally.entered,
        "running": found.tally.inside,
        "completed": found.tally.finished,
        "cancelled": found.cancelled,
        "total_step_runs": sum(step.total for step in found.steps),
        "completed_step_runs": sum(step.completed for step in found.steps),
        "failed_step_runs": sum(step.failed for step in found.steps),
        "emails_sent": found.emails_sent,
        "completion_rate": found.completion_rate,
        "steps": [_step(step) for step in found.steps],
    }


def _step(step: StepFigures) -> StepStats:
    return StepStats.model_validate(step)
