"""Reads of automations: frozen rows for pages, the API and other rooms."""

from engine.automations.queries.automations import (
    AutomationDetail,
    AutomationRow,
    RevisionRow,
    Tally,
    get_automation,
    page_automations,
    page_revisions,
    people_by_step,
    status_counts,
    tallies,
    waiting_until,
)
from engine.automations.queries.links import (
    RunOfSend,
    automation_names,
    runs_inside,
    runs_of_sends,
)
from engine.automations.queries.runs import (
    RunDetail,
    RunFilter,
    RunRow,
    StepRunRow,
    get_run,
    page_runs,
)
from engine.automations.queries.story import story

__all__ = [
    "AutomationDetail",
    "AutomationRow",
    "RevisionRow",
    "RunDetail",
    "RunFilter",
    "RunOfSend",
    "RunRow",
    "StepRunRow",
    "Tally",
    "automation_names",
    "get_automation",
    "get_run",
    "page_automations",
    "page_revisions",
    "page_runs",
    "people_by_step",
    "runs_inside",
    "runs_of_sends",
    "status_counts",
    "story",
    "tallies",
    "waiting_until",
]
