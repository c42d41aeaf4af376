"""The list of runs: its filters from the address, its rows in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from flask_babel import gettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString
from sqlalchemy.orm import Session

from engine.automations import queries
from engine.automations.models import CANCELLED, HOLD, RUNNING
from engine.automations.queries import RunFilter, RunRow
from web import days
from web.automations import reading
from web.filters import signal
from web.runs import messages

FIELDS: Final = ("automation", "status", "step", "since", "until", "q", "error", "attention")
# A select with more entries than this helps nobody; the address takes any id.
_CHOICES: Final = 200
_LABELS: Final[Mapping[str, LazyString]] = {
    "automation": _("Automation"),
    "status": _("Status"),
    "step": _("Step"),
    "since": _("Entered from"),
    "until": _("Entered until"),
    "q": _("Person"),
    "error": _("Error"),
    "attention": _("Needs attention"),
}
WAITING: Final = "waiting"
HELD: Final = "held"
LEFT: Final = "left"


@dataclass(frozen=True)
class Line:
    """A run as lists show it."""

    public_id: str
    person: str
    automation: str
    entered: datetime
    step: str
    status: str
    due: datetime | None
    error: str


@dataclass(frozen=True)
class Choices:
    """What the selects of the filter offer: pairs of value and words."""

    automations: Sequence[tuple[str, str]]
    steps: Sequence[tuple[str, str]]


def asked(sent: Mapping[str, str]) -> dict[str, str]:
    """Return every filter that an address or a form names, '' where it does not; nothing else."""
    return {name: sent.get(name, "").strip() for name in FIELDS}


def spelt(filters: Mapping[str, str]) -> str:
    """Return filters as an address spells them, always in one order; '' for none."""
    return urlencode([(name, filters[name]) for name in FIELDS if filters.get(name)])


def read(asked: Mapping[str, str], zone: str) -> RunFilter:
    """Return the filter that an address spells."""
    span = days.read(asked, zone)
    return RunFilter(
        automation=asked["automation"] or None,
        status=asked["status"] or None,
        step=asked["step"] or None,
        since=span.since,
        until=span.until,
        q=asked["q"] or None,
        error=asked["error"] or None,
        attention=bool(asked["attention"]),
    )


def lines(session: Session, workspace_id: int, rows: Sequence[RunRow], at: datetime) -> list[Line]:
    """Return runs as lists show them, a bounded number of statements for all."""
    places = {row.row_id: (row.revision_row_id, row.step_key) for row in rows}
    steps = reading.step_titles(session, workspace_id, places)
    return [
        Line(
            public_id=row.public_id,
            person=row.contact_name,
            automation=row.automation_name,
            entered=row.started_at,
            step=steps.get(row.row_id, row.step_key or "") if row.status == RUNNING else "",
            status=status(row, at),
            due=row.due_at,
            error=""
            if row.error_code in messages.LEFT
            else messages.failed(row.error_code, row.error_message),
        )
        for row in rows
    ]


def status(row: RunRow, at: datetime) -> str:
    """Return the status as pages show it: a running run whose step is due later waits.

    Where its automation holds people while it is paused, one whose time has come is held. One that
    was ended although nothing went wrong is no alarm.
    """
    if row.status == CANCELLED and row.ended_reason not in messages.BROKEN:
        return LEFT
    if row.status != RUNNING or row.due_at is None:
        return row.status
    if row.held_at is None and row.due_at > at:
        return WAITING
    return HELD if row.paused == HOLD else row.status


def told(asked: Mapping[str, str], offered: Choices) -> list[tuple[str, str]]:
    """Return a filter in words: pairs of what it asks for, as the list names it, and the value."""
    names = {"automation": dict(offered.automations), "step": dict(offered.steps)}
    return [
        (str(_LABELS[name]), names.get(name, {}).get(value, _value(name, value)))
        for name, value in asked.items()
        if value
    ]


def _value(name: str, value: str) -> str:
    if name == "attention":
        return str(gettext("yes"))
    return str(signal(value, "run").word) if name == "status" else value


def choices(session: Session, workspace_id: int, automation: str) -> Choices:
    """Return what may be chosen; steps only of the chosen automation."""
    rows, _following = queries.page_automations(session, workspace_id, limit=_CHOICES)
    chosen = queries.get_automation(session, workspace_id, automation) if automation else None
    told = chosen and reading.tell(session, workspace_id, chosen.shown, chosen.shown_names)
    return Choices(
        [(row.public_id, row.name) for row in rows],
        [(step.key, told.title(step)) for step in told.graph.steps] if told else [],
    )
