"""The edges of what a person does to runs: skip, cut short, try at once, revive, finish.

Called by `service.acting` alone, on rows that it has locked and judged. Every door counts what it
moved; the runs and visits of one call belong to one workspace.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from engine.automations import counters
from engine.automations.act_scene import Scene, Visit
from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    EXECUTING,
    FAILED,
    PENDING,
    RUNNING,
    SKIPPED,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.run_lifecycle import FINISHED, RUN_ENDED, RUNS, STEP_RUNS
from engine.core.db import Columns, Id, Instant, JsonObject, among, batch_table
from engine.core.machine import transition_many

_PLACES: Final[Columns] = {"id": Id, "place": Id, "waits": Instant(), "executed": Integer()}


def skip_visits(session: Session, scenes: Sequence[Scene], mark: JsonObject, at: datetime) -> None:
    """Skip the open visits of runs; whoever stood there is passed on (funnel: passed).

    mark: the result of the visit: `skip` is who did it, `reason` and `to` of a move.
    """
    cleared = {"completed_at": at, "held_at": None, "error_code": None, "error_message": None}
    for status, found in _by_status(scenes).items():
        where = _where(session, found)
        transition_many(session, STEP_RUNS, (status, SKIPPED), where, {**cleared, "result": mark})
        keys = _keys(found)
        counters.count_steps(session, keys, SKIPPED, status)
        counters.count_steps(session, keys, counters.PASSED)


def cut_between_tries(session: Session, scenes: Sequence[Scene], at: datetime) -> None:
    """Fail visits that wait for their next try, because their run is about to be ended.

    Visits that wait for their time are cut short by who ends the run.
    """
    found = _by_status(scenes).get(EXECUTING, [])
    if not found:
        return
    patch = {
        "completed_at": at,
        "held_at": None,
        "error_code": RUN_ENDED,
        "error_message": "Automation run has ended",
    }
    where = _where(session, found)
    transition_many(session, STEP_RUNS, (EXECUTING, FAILED), where, patch)
    counters.count_steps(session, _keys(found), FAILED, EXECUTING)
    counters.count_steps(session, _keys(found), counters.DEPARTED)


def hasten_visits(session: Session, scenes: Sequence[Scene], at: datetime) -> Sequence[int]:
    """Make the next try of visits due now; return their ids."""
    found = _by_status(scenes).get(EXECUTING, [])
    if found:
        patch = {"due_at": at, "held_at": None}
        where = _where(session, found)
        transition_many(session, STEP_RUNS, (EXECUTING, EXECUTING), where, patch)
    return [visit.id for _scene, visit in found]


def revive_runs(session: Session, places: Mapping[Scene, int]) -> Collection[int]:
    """Let cancelled runs go on at a place (index of a step); return which really do.

    Left out is whoever has entered anew meanwhile: one run of a person runs at a time.
    """
    if not places:
        return set()
    alive = _revive(session, places)
    if alive is None and len(places) == 1:
        return set()
    if alive is None:
        parts = [revive_runs(session, {scene: place}) for scene, place in places.items()]
        return {run_id for part in parts for run_id in part}
    by_owner = Counter(
        (scene.workspace_id, scene.automation_id) for scene in places if scene.id in alive
    )
    for key, by in by_owner.items():
        counters.count_runs(session, key, CANCELLED, -by)
    return alive


def _revive(session: Session, places: Mapping[Scene, int]) -> set[int] | None:
    """Return the revived runs; None where one of them met a younger run of the same person."""
    rows = [{"id": scene.id, "place": place} for scene, place in places.items()]
    batch = batch_table(session, {"id": Id, "place": Id}, rows)
    patch = {
        "completed_at": None,
        "ended_reason": None,
        "failed_step_key": None,
        "error_code": None,
        "error_message": None,
        "attention_at": None,
        "current_step_index": batch.c.place,
    }
    try:
        with session.begin_nested():
            where = [AutomationRun.id == batch.c.id]
            return set(_ids(transition_many(session, RUNS, (CANCELLED, RUNNING), where, patch)))
    except IntegrityError:
        return None


def finish_runs(session: Session, executed: Mapping[Scene, int], at: datetime) -> None:
    """Complete running runs that were led past their last step. executed: visits to count."""
    for by in sorted(set(executed.values())):
        ids = [scene.id for scene, count in executed.items() if count == by]
        patch = {
            "completed_at": at,
            "next_step_at": None,
            "ended_reason": FINISHED,
            "steps_executed": AutomationRun.steps_executed + by,
        }
        where = [among(session, AutomationRun.id, ids)]
        transition_many(session, RUNS, (RUNNING, COMPLETED), where, patch)
    owners = Counter((scene.workspace_id, scene.automation_id) for scene in executed)
    for key, count in owners.items():
        counters.count_runs(session, key, COMPLETED, count)


def place_runs(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Set where running runs stand. rows: id, place, waits (until when, or None), executed."""
    if not rows:
        return
    batch = batch_table(session, _PLACES, rows)
    session.execute(
        update(AutomationRun)
        .where(AutomationRun.id == batch.c.id, RUNS.is_(RUNNING))
        .values(
            current_step_index=batch.c.place,
            next_step_at=batch.c.waits,
            steps_executed=AutomationRun.steps_executed + batch.c.executed,
        )
        .execution_options(synchronize_session=False)
    )


def _by_status(scenes: Sequence[Scene]) -> Mapping[str, list[tuple[Scene, Visit]]]:
    found: dict[str, list[tuple[Scene, Visit]]] = {}
    for scene in scenes:
        if scene.open is not None and not scene.open.leased:
            found.setdefault(scene.open.status, []).append((scene, scene.open))
    return {status: found[status] for status in (PENDING, EXECUTING) if status in found}


def _where(session: Session, found: Sequence[tuple[Scene, Visit]]) -> list[ColumnElement[bool]]:
    row = AutomationStepRun
    return [
        among(session, row.id, [visit.id for _scene, visit in found]),
        row.lease_until.is_(None),
    ]


def _keys(found: Sequence[tuple[Scene, Visit]]) -> list[tuple[int, int, str]]:
    return [(scene.workspace_id, scene.automation_id, visit.key) for scene, visit in found]


def _ids(moved: Sequence[Any]) -> list[int]:
    return [row[0] for row in moved]
