"""A person's acts on runs: try again, skip the step, move, end, take off the list of attention.

One run or many: the same routine, set-wise. A direct, guarded move of rows that is visible at once;
the worker takes up what is due then as it takes up everything.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.automations import act_lifecycle, act_scene, run_lifecycle, run_records
from engine.automations.act_judging import CANCEL, DISMISS, MOVE, RETRY, SKIP, Move, RunAct, judge
from engine.automations.act_scene import Scene
from engine.automations.fanout import step_row
from engine.automations.graph import GraphStep
from engine.automations.hints import hint_steps
from engine.automations.models import CANCELLED, COMPLETED, RUNNING, AutomationRun
from engine.core import audit
from engine.core.audit import Actor, Scalar
from engine.core.db import JsonObject, among
from engine.core.outcome import Refused, missing

RESOURCE: Final = "run"
AUDITED: Final[Mapping[str, str]] = {
    RETRY: "run.retried",
    SKIP: "run.skipped",
    MOVE: "run.moved",
    CANCEL: "run.cancelled",
    DISMISS: "run.dismissed",
}
UNKNOWN: Final = missing("run_not_found")


@dataclass(frozen=True)
class Done:
    """What an act did. status: of the run now; step_key: where it stands, None where it ended.

    was: the key of the step that it stood at before, or had broken off at.
    """

    run_id: str
    status: str
    step_key: str | None
    was: str | None = None


def act(
    session: Session, workspace_id: int, public_id: str, wanted: RunAct, actor: Actor, at: datetime
) -> Done | Refused:
    """Do something to one run and note it in the audit log.

    Refused: run_not_found (missing), unknown_step (invalid), being_executed, nothing_failed,
    already_ended, already_inside, automation_not_active, automation_deleted, contact_removed,
    loop_cap, unreadable_revision, nothing_to_dismiss.
    """
    run = AutomationRun
    run_id = session.scalar(
        select(run.id).where(run.workspace_id == workspace_id, run.public_id == public_id)
    )
    if run_id is None:
        return UNKNOWN
    done = act_many(session, workspace_id, [run_id], wanted, actor, at)[run_id]
    if not isinstance(done, Refused):
        subject = audit.Subject(workspace_id, RESOURCE, public_id)
        audit.record(session, subject, AUDITED[wanted.action], actor, at, _details(wanted, done))
    return done


def _details(wanted: RunAct, done: Done) -> dict[str, Scalar]:
    told = {"from": done.was, "to": done.step_key, "reason": wanted.reason}
    return {name: value for name, value in told.items() if value is not None}


def act_many(
    session: Session,
    workspace_id: int,
    run_ids: Sequence[int],
    wanted: RunAct,
    actor: Actor,
    at: datetime,
) -> Mapping[int, Done | Refused]:
    """Do the same to many runs (row ids), each judged by itself; answer by run.

    Writes no audit line: who asks for many notes that once. Refused as `act` has it.
    """
    scenes = act_scene.load(session, workspace_id, run_ids)
    answers: dict[int, Done | Refused] = dict.fromkeys(run_ids, UNKNOWN)
    moves: dict[Scene, Move] = {}
    others: list[Scene] = []
    for scene in scenes.values():
        judged = judge(scene, wanted, at)
        if isinstance(judged, Refused):
            answers[scene.id] = judged
        elif judged is None:
            others.append(scene)
        else:
            moves[scene] = judged
    if wanted.action == DISMISS:
        answers |= _dismiss(session, others)
    elif wanted.action == CANCEL:
        answers |= _cancel(session, workspace_id, others, at)
    else:
        answers |= _go_on(session, moves, _mark(wanted, actor), at)
    return answers


def _mark(wanted: RunAct, actor: Actor) -> JsonObject:
    """Return the result of a visit that a person has somebody skip."""
    moved = {"reason": "moved", "to": wanted.step} if wanted.action == MOVE else {}
    return {"skip": actor.name, **moved}


def _dismiss(session: Session, scenes: Sequence[Scene]) -> Mapping[int, Done | Refused]:
    ids = [scene.id for scene in scenes]
    run = AutomationRun
    session.execute(
        update(run)
        .where(among(session, run.id, ids))
        .values(attention_at=None)
        .execution_options(synchronize_session=False)
    )
    return {scene.id: _done(scene, scene.status, None) for scene in scenes}


def _cancel(
    session: Session, workspace_id: int, scenes: Sequence[Scene], at: datetime
) -> Mapping[int, Done | Refused]:
    act_lifecycle.cut_between_tries(session, scenes, at)
    run = AutomationRun
    where = [run.workspace_id == workspace_id, among(session, run.id, [s.id for s in scenes])]
    if scenes:
        run_lifecycle.cancel_where(session, where, run_lifecycle.ENDED_BY_PERSON, at)
    return {scene.id: _done(scene, CANCELLED, None) for scene in scenes}


def _go_on(
    session: Session, moves: Mapping[Scene, Move], mark: JsonObject, at: datetime
) -> Mapping[int, Done | Refused]:
    rows = {scene: _visit_row(scene, move, at) for scene, move in moves.items()}
    answers: dict[int, Done | Refused] = {}
    for scene in [scene for scene, row in rows.items() if isinstance(row, Refused)]:
        answers[scene.id] = Refused("unreadable_revision")
        del rows[scene]
    ready = {scene: moves[scene] for scene in rows}
    for scene in _left_out(session, ready):
        answers[scene.id] = Refused("already_inside")
        del ready[scene], rows[scene]
    _write(session, ready, {s: row for s, row in rows.items() if isinstance(row, dict)}, mark, at)
    return answers | {scene.id: _moved(scene, move) for scene, move in ready.items()}


def _left_out(session: Session, moves: Mapping[Scene, Move]) -> Collection[Scene]:
    """Revive the runs that had ended; return those whose person is inside again."""
    ended = {scene: move.target for scene, move in moves.items() if move.revive}
    # The end is no place: who is led there is completed at once.
    places = {scene: min(target, _last(scene)) for scene, target in ended.items()}
    alive = act_lifecycle.revive_runs(session, places)
    return [scene for scene in ended if scene.id not in alive]


def _write(
    session: Session,
    moves: Mapping[Scene, Move],
    rows: Mapping[Scene, JsonObject],
    mark: JsonObject,
    at: datetime,
) -> None:
    hasty = [scene for scene, move in moves.items() if move.hasten]
    due = [(row_id, at) for row_id in act_lifecycle.hasten_visits(session, hasty, at)]
    left = [scene for scene, move in moves.items() if move.leave]
    act_lifecycle.skip_visits(session, left, mark, at)
    executed = {
        scene: int(move.leave and scene.open is not None and scene.open.attempt > 0)
        for scene, move in moves.items()
    }
    finished = {s: executed[s] for s, move in moves.items() if not move.hasten and s not in rows}
    act_lifecycle.finish_runs(session, finished, at)
    places = [
        {
            "id": scene.id,
            "place": row["step_index"],
            "waits": row["delay_until"],
            "executed": executed[scene],
        }
        for scene, row in rows.items()
    ]
    act_lifecycle.place_runs(session, places)
    passed = [_passed_row(scene, step) for scene, move in moves.items() for step in move.passed]
    run_records.record_skipped(session, passed, at)
    made = run_records.create_step_runs(session, list(rows.values()), at)
    hint_steps(session, [*due, *made], at)


def _visit_row(scene: Scene, move: Move, at: datetime) -> JsonObject | Refused | None:
    """Return the row of the new visit; None where there is none; Refused where it cannot be."""
    step = scene.graph.at(move.target) if scene.graph else None
    if move.hasten or step is None:
        return None
    try:
        row = step_row(scene.id, scene.workspace_id, step, at)
    except (ValueError, OverflowError):
        return Refused("unreadable_revision")
    if move.anew:
        row["delay_until"] = move.waits
    return {**row, "automation_id": scene.automation_id}


def _passed_row(scene: Scene, step: GraphStep) -> JsonObject:
    return {
        "workspace_id": scene.workspace_id,
        "automation_id": scene.automation_id,
        "automation_run_id": scene.id,
        "step_index": step.index,
        "step_key": step.key,
        "step_type": step.type,
    }


def _moved(scene: Scene, move: Move) -> Done:
    step = scene.graph.at(move.target) if scene.graph else None
    if step is None:
        return _done(scene, COMPLETED, None)
    return _done(scene, RUNNING, step.key)


def _done(scene: Scene, status: str, step_key: str | None) -> Done:
    here = scene.open or scene.last
    return Done(scene.public_id, status, step_key, here.key if here else None)


def _last(scene: Scene) -> int:
    return len(scene.graph.steps) - 1 if scene.graph else 0
