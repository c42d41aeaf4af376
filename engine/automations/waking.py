"""Waits that an event ends early: who waits for it goes on in the event's own transaction.

Locks automations, visits and runs, in this order; mostly nobody waits, which one look-up says.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Executable, String, bindparam, select, update
from sqlalchemy.orm import Session

from engine.automations import run_lifecycle
from engine.automations.hints import hint_steps
from engine.automations.models import PENDING, RUNNING, Automation, AutomationRun, AutomationStepRun
from engine.core.db import (
    Columns,
    Id,
    Instant,
    JsonObject,
    Prepared,
    among_bound,
    json_type,
    many,
    packed,
    rows_table,
    table_of,
)
from engine.core.events import RecordedEvent

_STEP: Final = table_of(AutomationStepRun).c
_RUN: Final = table_of(AutomationRun).c


def wake(session: Session, workspace_id: int, events: Sequence[RecordedEvent], at: datetime) -> int:
    """End the waits of people for these named events; return how many went on.

    A run hears what happened since it began, but for the very event that started it; the first
    such event of a visit stays. A parked visit hears as well, and goes on with the resume.
    """
    names = {event.event.name for event in events if event.event.name is not None}
    asked = {"of_workspace": workspace_id, "names": many(session, names)}
    if not names or _ANYBODY.run(session, **asked).first() is None:
        return 0
    waiting = _waiting(session, workspace_id, events)
    if not waiting:
        return 0
    _hold_still(session, {owner for _, owner in waiting.values()}, workspace_id)
    # Who went on or was moved before the lock was ours is seen as it is now.
    _LOCK.run(session, of_workspace=workspace_id, ids=many(session, waiting))
    by_id = {event.id: event for event in events}
    rows = [
        {"id": visit_id, "heard": _heard(by_id[event_id])}
        for visit_id, (event_id, _) in _waiting(session, workspace_id, events).items()
        if visit_id in waiting
    ]
    woken = _WAKE.run(session, of_workspace=workspace_id, rows=packed(session, rows), at=at).all()
    runs = many(session, [run_id for _, run_id in woken])
    _WAITS_NO_MORE.run(session, of_workspace=workspace_id, ids=runs)
    hint_steps(session, [(row[0], at) for row in woken], at)
    return len(woken)


def _heard(recorded: RecordedEvent) -> JsonObject:
    """Return the event as a visit keeps it, and as `Visit.heard` has it."""
    event = recorded.event
    return {
        "event": recorded.public_id,
        "name": event.name,
        "properties": event.data.get("event_properties"),
    }


def _waiting(
    session: Session, workspace_id: int, events: Sequence[RecordedEvent]
) -> Mapping[int, tuple[int, int]]:
    """Return the first event each waiting visit hears, with its automation: (event, automation)."""
    rows = [
        {
            "event_id": event.id,
            "contact_id": event.event.contact_id,
            "name": event.event.name,
            "occurred_at": event.event.occurred_at,
        }
        for event in events
    ]
    found = _WAITING.run(session, of_workspace=workspace_id, rows=packed(session, rows))
    heard: dict[int, tuple[int, int]] = {}
    # In the order in which things were told, of which the rows' numbers speak.
    for visit_id, event_id, automation_id in sorted(map(tuple, found)):
        heard.setdefault(visit_id, (event_id, automation_id))
    return heard


def _hold_still(session: Session, owners: Collection[int], workspace_id: int) -> None:
    """Wait for a resume or a move of people that is under way, and keep the next one off."""
    row = Automation
    statement = select(row.id).where(row.workspace_id == workspace_id, row.id.in_(owners))
    session.execute(statement.order_by(row.id).with_for_update(read=True)).all()


def _prepare_anybody(dialect: str) -> Executable:
    return (
        select(_STEP.id)
        .where(
            run_lifecycle.STEP_RUNS.at(PENDING),
            among_bound(dialect, _STEP.awaits, "names"),
            _STEP.workspace_id == bindparam("of_workspace", type_=Id),
        )
        .limit(1)
    )


def _prepare_waiting(dialect: str) -> Executable:
    asked: Columns = {
        "event_id": Id,
        "contact_id": Id,
        "name": String(),
        "occurred_at": Instant(),
    }
    rows, workspace_id = rows_table(dialect, asked), bindparam("of_workspace", type_=Id)
    theirs = (
        (_RUN.contact_id == rows.c.contact_id)
        & (_RUN.workspace_id == workspace_id)
        & run_lifecycle.RUNS.at(RUNNING)
        & (_RUN.started_at <= rows.c.occurred_at)
        & _RUN.event_id.is_distinct_from(rows.c.event_id)
    )
    waits = (
        (_STEP.automation_run_id == _RUN.id)
        & (_STEP.workspace_id == workspace_id)
        & (_STEP.awaits == rows.c.name)
        & run_lifecycle.STEP_RUNS.at(PENDING)
        & _STEP.heard.is_(None)
    )
    return (
        select(_STEP.id, rows.c.event_id, _RUN.automation_id)
        .join_from(rows, _RUN.id.table, theirs)
        .join(_STEP.id.table, waits)
    )


def _prepare_lock(dialect: str) -> Executable:
    """In the order of ids, as every writer of more than one visit takes them."""
    return (
        select(_STEP.id)
        .where(
            among_bound(dialect, _STEP.id),
            _STEP.workspace_id == bindparam("of_workspace", type_=Id),
            run_lifecycle.STEP_RUNS.at(PENDING),
        )
        .order_by(_STEP.id)
        .with_for_update(key_share=True)
    )


def _prepare_wake(dialect: str) -> Executable:
    rows = rows_table(dialect, {"id": Id, "heard": json_type()})
    at = bindparam("at", type_=Instant())
    return (
        update(_STEP.id.table)
        .where(
            _STEP.id == rows.c.id,
            _STEP.workspace_id == bindparam("of_workspace", type_=Id),
            run_lifecycle.STEP_RUNS.at(PENDING),
            _STEP.heard.is_(None),
        )
        .values(heard=rows.c.heard, due_at=at, delay_until=at)
        .returning(_STEP.id, _STEP.automation_run_id)
    )


def _prepare_waits_no_more(dialect: str) -> Executable:
    return (
        update(_RUN.id.table)
        .where(
            among_bound(dialect, _RUN.id),
            _RUN.workspace_id == bindparam("of_workspace", type_=Id),
            run_lifecycle.RUNS.at(RUNNING),
        )
        .values(next_step_at=None)
    )


_ANYBODY: Final = Prepared(_prepare_anybody)
_WAITING: Final = Prepared(_prepare_waiting)
_LOCK: Final = Prepared(_prepare_lock)
_WAKE: Final = Prepared(_prepare_wake)
_WAITS_NO_MORE: Final = Prepared(_prepare_waits_no_more)
