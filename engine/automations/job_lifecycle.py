"""The only writer of the statuses of acts on many runs: claimed, gone on with, done, stopped."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam
from sqlalchemy.orm import Session

from engine.automations.models import RunJob
from engine.automations.models.jobs import DONE, HALTED, WORKING
from engine.core.db import Instant, table_of
from engine.core.machine import Change, Machine, transition_many
from engine.core.outcome import Refused
from engine.core.walking import Claim

JOB_EDGES: Final = frozenset({(WORKING, WORKING), (WORKING, DONE), (WORKING, HALTED)})
LEASE: Final = timedelta(seconds=120)


def _plural_only(_row: Any, _asked: Any, _at: datetime) -> Change | Refused:
    raise TypeError("acts on many runs move by the plural door")


RUN_JOBS: Final = Machine[RunJob, str]("run_job", RunJob, JOB_EDGES, str, _plural_only, str)
_JOB: Final = table_of(RunJob).c
_CLAIM: Final = Claim(
    RUN_JOBS,
    (WORKING, WORKING),
    (_JOB.due_at <= bindparam("at", type_=Instant()),),
    # While claimed, due_at is the end of the lease.
    {
        "attempt": _JOB.attempt + 1,
        "lease_until": bindparam("until", type_=Instant()),
        "due_at": bindparam("until", type_=Instant()),
    },
    [_JOB.id, _JOB.attempt],
)


def take(session: Session, ids: Sequence[int] | None, at: datetime) -> tuple[int, int] | None:
    """Claim one job that is due (of `ids`, or any); return it as (id, attempt)."""
    found = _CLAIM.take(session, ids, 1, at=at, until=at + LEASE)
    return (found[0].id, found[0].attempt) if found else None


def go_on(
    session: Session, claimed: tuple[int, int], columns: Mapping[str, Any], due_at: datetime
) -> bool:
    """Note how far a claimed job is; due_at: the end of its lease, or now to let others go on."""
    return _move(session, claimed, WORKING, {**columns, "due_at": due_at})


def finish(
    session: Session, claimed: tuple[int, int], columns: Mapping[str, Any], at: datetime
) -> bool:
    """End a claimed job that has been through all its runs."""
    ended = {"finished_at": at, "lease_until": None}
    return _move(session, claimed, DONE, {**columns, **ended})


def stop(session: Session, workspace_id: int, job_id: int, at: datetime) -> bool:
    """End a job before its end; return whether it was still under way."""
    where = [RunJob.workspace_id == workspace_id, RunJob.id == job_id]
    ended = {"finished_at": at, "lease_until": None}
    return bool(transition_many(session, RUN_JOBS, (WORKING, HALTED), where, ended))


def give_up(session: Session, claimed: tuple[int, int], at: datetime) -> bool:
    """End a claimed job that cannot go on, before its end."""
    return _move(session, claimed, HALTED, {"finished_at": at, "lease_until": None})


def _move(session: Session, claimed: tuple[int, int], to: str, columns: Mapping[str, Any]) -> bool:
    row_id, attempt = claimed
    where = [RunJob.id == row_id, RunJob.attempt == attempt]
    return bool(transition_many(session, RUN_JOBS, (WORKING, to), where, columns))
