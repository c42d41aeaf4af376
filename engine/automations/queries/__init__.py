"""Reads of automations: frozen rows for pages, the API and other rooms."""

from engine.automations.queries.attention import Cause, cause_count, causes
from engine.automations.queries.automations import (
    AutomationDetail,
    AutomationRow,
    RevisionRow,
    get_automation,
    newest_number,
    page_automations,
    page_revisions,
    status_counts,
)
from engine.automations.queries.doings import Doing, acts, doings
from engine.automations.queries.drafts import History, deleted_by, history
from engine.automations.queries.links import (
    RunOfSend,
    automation_names,
    runs_inside,
    runs_of_sends,
)
from engine.automations.queries.pauses import Failure, is_breaker, last_failures, paused_by
from engine.automations.queries.run_moves import Move, Passage, Pin, revisions_of
from engine.automations.queries.run_rows import RunDetail, RunFilter, RunRow, StepRunRow
from engine.automations.queries.run_watching import run_mark
from engine.automations.queries.runs import get_run, page_runs
from engine.automations.queries.stats import (
    MOST_WAITING,
    Figures,
    StepFigures,
    Tally,
    figures,
    figures_of,
    tallies,
    waiting_until,
)
from engine.automations.queries.story import story

__all__ = [
    "MOST_WAITING",
    "AutomationDetail",
    "AutomationRow",
    "Cause",
    "Doing",
    "Failure",
    "Figures",
    "History",
    "Move",
    "Passage",
    "Pin",
    "RevisionRow",
    "RunDetail",
    "RunFilter",
    "RunOfSend",
    "RunRow",
    "StepFigures",
    "StepRunRow",
    "Tally",
    "acts",
    "automation_names",
    "cause_count",
    "causes",
    "deleted_by",
    "doings",
    "figures",
    "figures_of",
    "get_automation",
    "get_run",
    "history",
    "is_breaker",
    "last_failures",
    "newest_number",
    "page_automations",
    "page_revisions",
    "page_runs",
    "paused_by",
    "revisions_of",
    "run_mark",
    "runs_inside",
    "runs_of_sends",
    "status_counts",
    "story",
    "tallies",
    "waiting_until",
]
