"""What the page of one run shows: head, log, the way on the plan, the person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.accounts import trail
from engine.audience import queries as audience
from engine.automations import queries, service
from engine.automations.models import COMPLETED, HOLD, PAUSED, RUNNING, Automation
from engine.automations.queries import RunDetail, RunFilter
from engine.delivery import queries as delivery
from web.automations import reading, track
from web.automations.reading import Told
from web.runs import doings, listing, log, messages, offering, way

# Other runs shown beside one.
_BESIDE: Final = 6


@dataclass(frozen=True)
class Head:
    """The run in one line; see templates/runs/detail.html."""

    public_id: str
    person: str
    automation: str
    automation_id: str
    automation_gone: bool
    paused_at: datetime | None
    holds: bool
    status: str
    entered: datetime
    ended: datetime | None
    step: int | None
    steps: int
    due: datetime | None
    revision: int
    entered_with: int
    moved_at: datetime | None
    ended_reason: str
    follows: bool


@dataclass(frozen=True)
class Person:
    """Who it is; public_id is '' for one who was deleted."""

    public_id: str
    name: str
    address: str
    timezone: str = ""
    language: str = ""
    external_id: str = ""


@dataclass(frozen=True)
class Beside:
    """Another run of the same person."""

    public_id: str
    automation: str
    status: str


def page(session: Session, workspace_id: int, found: RunDetail, at: datetime) -> dict[str, Any]:
    """Return the context of runs/detail.html."""
    run = found.run
    then = reading.tell_each(session, workspace_id, found.documents)
    told = then.get(run.revision)
    automation = service.find(session, workspace_id, run.automation_id)
    sends = delivery.sends_by_row_id(
        session,
        workspace_id,
        [visit.email_send_row_id for visit in found.steps if visit.email_send_row_id],
    )
    done = queries.doings(
        session, workspace_id, run.automation_id, run.started_at, run.completed_at
    )
    acts = queries.acts(session, workspace_id, run.row_id, run.public_id)
    actors = log.actors(found) | {doing.actor for doing in (*done, *acts)}
    names = trail.names(session, workspace_id, actors)
    lines = [*doings.lines(done, names, found), *doings.acts(acts, names, told)]
    passed_by = automation is None or automation.revision_id != run.revision_row_id
    beside = log.Beside(sends, names, lines, then if passed_by or len(then) > 1 else {})
    return {
        "run": _head(found, told, automation, at),
        "entries": log.entries(told, found, beside) if told else [],
        "rows": track.stations(told, way=way.read(told, found, then)) if told else (),
        "now": way.standing(found),
        "path": way.text(told, found, then) if told else [],
        "person": _person(session, workspace_id, found),
        "seen": queries.run_mark(session, workspace_id, run.public_id),
        "offer": offering.read(told, found, at),
        "also": _beside(session, workspace_id, found, at),
    }


def _head(found: RunDetail, told: Told | None, automation: Automation | None, at: datetime) -> Head:
    run = found.run
    running = run.status == RUNNING
    paused = running and automation is not None and automation.status == PAUSED
    return Head(
        public_id=run.public_id,
        person=run.contact_name,
        automation=run.automation_name,
        automation_id=run.automation_id,
        automation_gone=automation is None,
        paused_at=automation.paused_at if automation and paused else None,
        holds=run.paused == HOLD,
        status=listing.status(run, at),
        entered=run.started_at,
        ended=run.completed_at,
        step=run.current_step_index + 1 if running else None,
        steps=len(told.graph.steps) if told else 0,
        due=run.due_at,
        revision=run.revision,
        entered_with=found.entered_with,
        moved_at=found.moves[-1].at if found.moves else None,
        ended_reason=messages.ended(run.ended_reason),
        follows=run.status != COMPLETED,
    )


def _person(session: Session, workspace_id: int, found: RunDetail) -> Person:
    run = found.run
    row = audience.contacts_by_row_id(session, workspace_id, [run.contact_row_id]).get(
        run.contact_row_id
    )
    if row is None:
        return Person("", run.contact_name, run.contact_email or "")
    return Person(
        row.public_id,
        row.name,
        row.email or "",
        row.timezone or "",
        row.language or "",
        row.external_id or "",
    )


def _beside(session: Session, workspace_id: int, found: RunDetail, at: datetime) -> list[Beside]:
    wanted = RunFilter(contact=found.run.contact_id)
    rows, _following = queries.page_runs(session, workspace_id, wanted, limit=_BESIDE + 1)
    others = [row for row in rows if row.public_id != found.run.public_id]
    return [
        Beside(row.public_id, row.automation_name, listing.status(row, at))
        for row in others[:_BESIDE]
    ]
