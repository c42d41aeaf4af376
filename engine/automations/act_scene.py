"""What a person's act finds of runs: locked in the one order, and read once they stand still.

Automations and people are shared (a pause, a publish or a deletion waits, other acts do not), then
the open visits, then the runs. A visit that a worker is executing is not locked: it is the
worker's until it settles.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations.graph import Graph
from engine.automations.models import (
    ACTIVE,
    CANCELLED,
    EXECUTING,
    HOLD,
    PAUSED,
    PENDING,
    RUNNING,
    SKIPPED,
    Automation,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.revisions import graphs_of
from engine.automations.run_lifecycle import RUNS
from engine.core.db import among

# A worker may move a run on between our look at its visits and the look at itself.
_LOOKS: Final = 3


@dataclass(frozen=True)
class Visit:
    """A visit to a step. leased: a worker is executing it now."""

    id: int
    index: int
    key: str
    status: str
    attempt: int
    leased: bool
    delay_until: datetime | None


@dataclass(frozen=True, eq=False)
class Scene:
    """One run, locked. barred: why it may not go on, or None; last: the newest visit not skipped.

    open: the visit under way. asks: it asks for a person's attention.
    """

    id: int
    public_id: str
    workspace_id: int
    automation_id: int
    status: str
    ended_reason: str | None
    place: int
    executed: int
    asks: bool
    barred: str | None
    graph: Graph | None
    open: Visit | None = None
    last: Visit | None = None


@dataclass
class _Around:
    """What stands around the runs: why automations and people bar them, who is inside again."""

    automations: dict[int, str | None] = field(default_factory=dict)
    people: dict[int, str | None] = field(default_factory=dict)
    inside: set[tuple[int, int]] = field(default_factory=set)


def load(session: Session, workspace_id: int, run_ids: Collection[int]) -> Mapping[int, Scene]:
    """Lock runs with what they stand on, and return them by row; unknown ones are left out."""
    run = AutomationRun
    query = select(run.id, run.automation_id, run.contact_id).where(
        run.workspace_id == workspace_id, among(session, run.id, run_ids)
    )
    named = session.execute(query).all()
    if not named:
        return {}
    ids = [row.id for row in named]
    around = _Around()
    _lock_automations(session, workspace_id, around, {row.automation_id for row in named})
    _lock_people(session, workspace_id, around, {row.contact_id for row in named})
    visits = _open_visits(session, workspace_id, ids)
    runs = _lock_runs(session, workspace_id, ids)
    ended = [row.id for row in runs if row.status == CANCELLED]
    last = _last_visits(session, workspace_id, ended)
    _look_inside(session, workspace_id, around, [row for row in runs if row.status == CANCELLED])
    graphs = graphs_of(session, {row.revision_id for row in runs})
    return {
        row.id: _scene(row, workspace_id, around, graphs, visits.get(row.id), last.get(row.id))
        for row in runs
    }


def _lock_automations(
    session: Session, workspace_id: int, around: _Around, ids: Collection[int]
) -> None:
    row = Automation
    query = (
        select(row.id, row.status, row.on_pause, row.deleted_at)
        .where(row.workspace_id == workspace_id, among(session, row.id, ids))
        .order_by(row.id)
        .with_for_update(read=True)
    )
    for found in session.execute(query):
        held = found.status == PAUSED and found.on_pause == HOLD
        barred = None if found.status == ACTIVE or held else "automation_not_active"
        around.automations[found.id] = "automation_deleted" if found.deleted_at else barred


def _lock_people(
    session: Session, workspace_id: int, around: _Around, ids: Collection[int]
) -> None:
    row = Contact
    query = (
        select(row.id, row.deleted_at)
        .where(row.workspace_id == workspace_id, among(session, row.id, ids))
        .order_by(row.id)
        .with_for_update(read=True)
    )
    for found in session.execute(query):
        around.people[found.id] = "contact_removed" if found.deleted_at else None


def _open_visits(
    session: Session, workspace_id: int, run_ids: Sequence[int]
) -> Mapping[int, Visit]:
    """Return the open visit by run; those that no worker executes are locked."""
    step, run = AutomationStepRun, AutomationRun
    found: dict[int, Visit] = {}
    left = list(run_ids)
    for _look in range(_LOOKS):
        where = [
            step.workspace_id == workspace_id,
            among(session, step.automation_run_id, left),
            step.status.in_((PENDING, EXECUTING)),
        ]
        free = _visits().where(*where, step.lease_until.is_(None)).order_by(step.id)
        locked = session.execute(free.with_for_update(key_share=True)).all()
        leased = session.execute(_visits().where(*where, step.lease_until.is_not(None))).all()
        found |= {row.automation_run_id: _visit(row) for row in (*leased, *locked)}
        running = select(run.id).where(
            run.workspace_id == workspace_id, among(session, run.id, left), RUNS.is_(RUNNING)
        )
        left = [run_id for run_id in session.scalars(running) if run_id not in found]
        if not left:
            break
    return found


def _lock_runs(session: Session, workspace_id: int, ids: Sequence[int]) -> Sequence[Any]:
    run = AutomationRun
    query = (
        select(
            run.id,
            run.public_id,
            run.automation_id,
            run.contact_id,
            run.revision_id,
            run.status,
            run.ended_reason,
            run.current_step_index,
            run.steps_executed,
            run.attention_at,
        )
        .where(run.workspace_id == workspace_id, among(session, run.id, ids))
        .order_by(run.id)
        .with_for_update(key_share=True)
    )
    return session.execute(query).all()


def _last_visits(
    session: Session, workspace_id: int, run_ids: Sequence[int]
) -> Mapping[int, Visit]:
    if not run_ids:
        return {}
    step = AutomationStepRun
    newest = (
        select(func.max(step.id))
        .where(
            step.workspace_id == workspace_id,
            among(session, step.automation_run_id, run_ids),
            step.status != SKIPPED,
        )
        .group_by(step.automation_run_id)
    )
    query = _visits().where(step.workspace_id == workspace_id, step.id.in_(newest))
    return {row.automation_run_id: _visit(row) for row in session.execute(query)}


def _look_inside(
    session: Session, workspace_id: int, around: _Around, ended: Sequence[Any]
) -> None:
    """Note who has a run under way in an automation of which another run has ended."""
    if not ended:
        return
    run = AutomationRun
    query = select(run.automation_id, run.contact_id).where(
        run.workspace_id == workspace_id,
        among(session, run.automation_id, {row.automation_id for row in ended}),
        among(session, run.contact_id, {row.contact_id for row in ended}),
        RUNS.is_(RUNNING),
    )
    around.inside.update((automation, contact) for automation, contact in session.execute(query))


def _visits() -> Any:
    step = AutomationStepRun
    return select(
        step.id,
        step.automation_run_id,
        step.step_index,
        step.step_key,
        step.status,
        step.attempt,
        step.lease_until,
        step.delay_until,
    )


def _visit(row: Any) -> Visit:
    return Visit(
        row.id,
        row.step_index,
        row.step_key,
        row.status,
        row.attempt,
        row.lease_until is not None,
        row.delay_until,
    )


def _scene(
    row: Any,
    workspace_id: int,
    around: _Around,
    graphs: Mapping[int, Graph],
    visit: Visit | None,
    last: Visit | None,
) -> Scene:
    barred = around.automations.get(row.automation_id, "automation_deleted")
    barred = barred or around.people.get(row.contact_id, "contact_removed")
    if barred is None and row.status == CANCELLED:
        again = (row.automation_id, row.contact_id) in around.inside
        barred = "already_inside" if again else None
    return Scene(
        id=row.id,
        public_id=row.public_id,
        workspace_id=workspace_id,
        automation_id=row.automation_id,
        status=row.status,
        ended_reason=row.ended_reason,
        place=row.current_step_index,
        executed=row.steps_executed,
        asks=row.attention_at is not None,
        barred=barred,
        graph=graphs.get(row.revision_id),
        open=visit,
        last=last,
    )
