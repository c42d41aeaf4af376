"""What the pages of automations show: rows of the list, one automation with its plan.

Reads by the engine's queries, a bounded number of statements a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.automations import editing as editing_ops
from engine.automations import queries
from engine.automations.models import ACTIVE, DRAFT, HOLD, PAUSED
from engine.automations.overdue import count_overdue
from engine.automations.queries import AutomationDetail, AutomationRow, Figures, Tally
from engine.core.db import JsonObject
from web.automations import drafts, findings, funnel, messages, pausing, reading, track, watching
from web.automations.drafts import Draft
from web.automations.kinds.steps import STEPS
from web.automations.reading import Told
from web.plan import Insert

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True)
class Line:
    """An automation as the list shows it."""

    public_id: str
    name: str
    status: str
    trigger: str
    entered: int
    inside: int
    finished: int
    paused_at: datetime | None
    live_since: datetime | None


@dataclass(frozen=True)
class Head:
    """An automation as its page shows it beside the plan; words are sentences or phrases."""

    public_id: str
    name: str
    description: str | None
    status: str
    trigger: str
    revision: int | None
    next_revision: int
    live_since: datetime | None
    paused_at: datetime | None
    paused_by: str
    holds: bool
    draft_differs: bool
    reentry: str
    entered: int
    inside: int
    finished: int
    ended: int
    elsewhere: int


def lines(session: Session, workspace_id: int, rows: Sequence[AutomationRow]) -> list[Line]:
    """Return rows of the list with their triggers in words and their counts."""
    tallies = queries.tallies(session, workspace_id, [row.row_id for row in rows])
    triggers = reading.trigger_words(
        session,
        workspace_id,
        {row.row_id: (row.trigger_type, row.trigger_config) for row in rows},
    )
    return [_line(row, triggers[row.row_id], tallies[row.row_id]) for row in rows]


def page(
    session: Session, workspace_id: int, found: AutomationDetail, at: datetime, *, editing: bool
) -> dict[str, Any]:
    """Return the context of automations/detail.html but for the reader's rights and the rail.

    editing: the plan is the draft, with places for new steps; a draft that this version cannot read
    is shown as it is in force.
    """
    row, (content, names) = found.row, _shown(found)
    live = reading.tell(session, workspace_id, content, names)
    told, draft = live, None
    if editing:
        told = live if content is found.draft else _told_draft(session, workspace_id, found)
        draft = None if told is None else drafts.of_detail(found, told)
    figures = queries.figures_of(session, workspace_id, row.row_id, content)
    tally, standing = figures.tally, {step.key: step.standing for step in figures.steps}
    on_plan = sum(standing.get(step.key, 0) for step in told.graph.steps) if told else 0
    pause = pausing.read(session, workspace_id, row)
    inserts = None if draft is None else _inserts(draft)
    people = track.People(tally, standing)
    return {
        "automation": _head(session, workspace_id, found, live, tally, on_plan, pause.by),
        "draft": draft,
        "past": _past(session, workspace_id, draft),
        "rows": track.stations(told, people, inserts=inserts) if told else (),
        "stages": _stages(row, figures, live),
        "seen": watching.seen(found, figures),
        "broken": pause.broken,
        "problems": findings.blocking(found) if row.status == DRAFT else (),
        **_of_resume(session, workspace_id, row, at),
        **_of_pause(session, workspace_id, row, at),
    }


def _told_draft(session: Session, workspace_id: int, found: AutomationDetail) -> Told | None:
    return reading.tell(session, workspace_id, found.draft, found.names)


def _inserts(draft: Draft) -> track.Inserts:
    """Return where a step may be inserted, by the key of the step in front."""
    places: dict[str, tuple[Insert, ...]] = {}
    for place in editing_ops.places(draft.document):
        key, step = place.after or track.START, draft.step(place.after or "")
        word = None
        if step is not None and place.exit is not None:
            word = STEPS.get(step["type"]).way_out(place.exit)
        here = Insert(drafts.write_place(place), word)
        places[key] = (*places.get(key, ()), here)
    return places


def _past(session: Session, workspace_id: int, draft: Draft | None) -> dict[str, str]:
    """Return what undo and redo would do, in words; '' where there is nothing."""
    if draft is None:
        return {}
    found = queries.history(session, workspace_id, draft.row_id)
    return {
        "undo": "" if found.undo is None else messages.act(found.undo.code),
        "redo": "" if found.redo is None else messages.act(found.redo.code),
    }


def _of_resume(
    session: Session, workspace_id: int, row: AutomationRow, at: datetime
) -> dict[str, Any]:
    """Return what the dialog of a resume says of people who were held."""
    if row.status != PAUSED or row.on_pause != HOLD or row.paused_at is None:
        return {}
    most = queries.MOST_WAITING
    overdue = count_overdue(session, workspace_id, row.row_id, at, most)
    return {"overdue": overdue, "paused_for": at - row.paused_at}


def _of_pause(
    session: Session, workspace_id: int, row: AutomationRow, at: datetime
) -> dict[str, Any]:
    """Return what the dialog of a pause says of people who wait."""
    if row.status != ACTIVE:
        return {}
    due = queries.waiting_until(session, workspace_id, row.row_id, at + _DAY)
    return {"due_in_a_day": due}


def _stages(row: AutomationRow, figures: Figures, told: Told | None) -> Sequence[funnel.Stage]:
    """Return how far people get; nothing for a draft that nobody ever entered."""
    if row.status == DRAFT and not figures.tally.entered:
        return ()
    return funnel.stages(figures, told.titles if told else {})


def _line(row: AutomationRow, trigger: str, tally: Tally) -> Line:
    return Line(
        row.public_id,
        row.name,
        row.status,
        trigger,
        tally.entered,
        tally.inside,
        tally.finished,
        row.paused_at if row.status == PAUSED else None,
        row.activated_at if row.status == ACTIVE else None,
    )


def _shown(found: AutomationDetail) -> tuple[JsonObject, Mapping[str, Mapping[str, str]]]:
    """Return the document of the plan: what is in force, of a draft the draft itself."""
    if found.row.status == DRAFT:
        return found.draft, found.names
    return found.shown, found.shown_names


def _head(
    session: Session,
    workspace_id: int,
    found: AutomationDetail,
    told: Told | None,
    tally: Tally,
    on_plan: int,
    paused_by: str,
) -> Head:
    row = found.row
    return Head(
        public_id=row.public_id,
        name=row.name,
        description=row.description,
        status=row.status,
        trigger=told.trigger() if told else row.trigger_type,
        revision=row.revision,
        next_revision=queries.newest_number(session, workspace_id, row.row_id) + 1,
        live_since=row.activated_at,
        paused_at=row.paused_at,
        paused_by=paused_by,
        holds=row.on_pause == HOLD,
        draft_differs=found.draft_differs,
        reentry=messages.reentry(row.reentry),
        entered=tally.entered,
        inside=tally.inside,
        finished=tally.finished,
        ended=tally.cancelled,
        elsewhere=max(0, tally.inside - on_plan),
    )
