"""Which revision each visit of a run went by, where publishes took the run along (decision A8)."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.models import (
    AutomationRevision,
    AutomationRun,
    AutomationStepRun,
    RunMove,
)
from engine.core.db import JsonObject


@dataclass(frozen=True)
class Pin:
    """The revision a run goes by. run_id, revision_id: rows; revised_at: when it was frozen."""

    run_id: int
    started_at: datetime
    revision_id: int
    revised_at: datetime


@dataclass(frozen=True)
class Move:
    """A publish took the run along. number: of the revision it went on in."""

    number: int
    at: datetime


@dataclass(frozen=True)
class Passage:
    """The visits of a run, oldest first, and the revisions that they went by.

    numbers: visit row → number of its revision; first: number of the one the run began with;
    documents: by number, of all of them. moves: the oldest first.
    """

    visits: Sequence[AutomationStepRun]
    numbers: Mapping[int, int]
    first: int
    documents: Mapping[int, JsonObject]
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class _Rows:
    """The same in rows of revisions. moves: (revision, when)."""

    first: int
    by_visit: Mapping[int, int]
    moves: Sequence[tuple[int, datetime]] = ()


def revisions_of(session: Session, workspace_id: int, pin: Pin) -> Passage:
    """Return the visits of a run and by which revisions they went.

    A wait during which the run was moved goes by the revision it was moved to. Two statements, and
    a third for a run that was moved before moves were kept.
    """
    step, move = AutomationStepRun, RunMove
    found = session.execute(
        select(step, move.from_revision_id, move.to_revision_id, move.moved_at)
        .outerjoin(
            move,
            (move.workspace_id == step.workspace_id)
            & (move.automation_run_id == step.automation_run_id)
            & (move.step_run_id == step.id),
        )
        .where(step.workspace_id == workspace_id, step.automation_run_id == pin.run_id)
        .order_by(step.id, move.id)
    ).all()
    visits = list({row[0].id: row[0] for row in found}.values())
    moves = [row for row in found if row.moved_at is not None]
    rows = _by_moves(moves, visits) if moves else _by_times(session, workspace_id, pin, visits)
    wanted = {rows.first, pin.revision_id, *(revision for revision, _at in rows.moves)}
    revision = AutomationRevision
    frozen = session.execute(
        select(revision.id, revision.number, revision.document).where(
            revision.workspace_id == workspace_id, revision.id.in_(wanted)
        )
    ).all()
    numbers = {row.id: row.number for row in frozen}
    return Passage(
        visits,
        {visit: numbers[revision_id] for visit, revision_id in rows.by_visit.items()},
        numbers[rows.first],
        {row.number: row.document for row in frozen},
        tuple(Move(numbers[revision_id], at) for revision_id, at in rows.moves),
    )


def _by_moves(moves: Sequence[Any], visits: Sequence[AutomationStepRun]) -> _Rows:
    since = [each[0].id for each in moves]
    legs = [moves[0].from_revision_id, *(each.to_revision_id for each in moves)]
    return _Rows(
        legs[0],
        {visit.id: legs[bisect_right(since, visit.id)] for visit in visits},
        [(each.to_revision_id, each.moved_at) for each in moves],
    )


def _by_times(
    session: Session, workspace_id: int, pin: Pin, visits: Sequence[AutomationStepRun]
) -> _Rows:
    """Return what the times tell: a revision that is younger than its run came by a publish.

    So it is for a run that was moved before moves were kept; of several the newest alone shows.
    """
    first, since = pin.revision_id, pin.started_at
    if pin.revised_at > pin.started_at:
        first, since = _in_force(session, workspace_id, pin), pin.revised_at
    by = {
        visit.id: first if visit.completed_at and visit.completed_at <= since else pin.revision_id
        for visit in visits
    }
    moved = first != pin.revision_id
    return _Rows(first, by, [(pin.revision_id, pin.revised_at)] if moved else ())


def _in_force(session: Session, workspace_id: int, pin: Pin) -> int:
    """Return the revision that was in force when the run began; the pinned one where none was."""
    revision, run = AutomationRevision, AutomationRun
    found = session.scalar(
        select(revision.id)
        .join(run, run.automation_id == revision.automation_id)
        .where(
            revision.workspace_id == workspace_id,
            run.workspace_id == workspace_id,
            run.id == pin.run_id,
            revision.created_at <= pin.started_at,
        )
        .order_by(revision.number.desc())
        .limit(1)
    )
    return found or pin.revision_id
