"""Retention and purge: what every room forgets, in bounded slices, in an order that keys allow.

Runs go before the mails and events they refer to; what a kept run refers to stays with it. Totals
stand in the automations' shards and outlive everything here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import or_
from sqlalchemy.orm import Session

from engine.accounts import idempotency, queries
from engine.accounts import pruning as accounts
from engine.audience.service import purging
from engine.automations import pruning as automations
from engine.core import audit, clock, events, outbox, rate, ticks
from engine.core.pruning import Slice, in_slices
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import pruning as delivery

# When in the day, in UTC, the timetable forgets; console pages say what it will be.
NIGHTLY: Final = timedelta(hours=3, minutes=10)
# A page counts no further than this.
MOST_COUNTED: Final = 10_000
# What a workspace keeps for as long as it says.
_SORTS: Final = (
    "decisions", "run_jobs", "requests", "runs", "sends", "events", "audit_lines",
)  # fmt: skip
_PARTS: Final = (automations.forget_people, delivery.forget_people, events.forget_people)


def retention(uow: UnitOfWork) -> Mapping[str, int]:
    """Forget what is older than its workspace keeps it, and what only matters for a while.

    Returns how many rows went, by sort.
    """
    at = clock.now()
    with uow.begin() as session:
        done = {
            "ticks": ticks.forget(session, at),
            "rate_windows": rate.forget(session, at),
            "idempotency_records": idempotency.forget(session, at),
        }
    done["product_events"] = in_slices(uow, partial(_product_events, at), outbox.forget)
    done |= dict.fromkeys(_SORTS, 0)
    for workspace in _workspaces(uow):
        before = at - timedelta(days=workspace.retention_days)
        for sort, gone in _of_workspace(uow, workspace.row_id, before).items():
            done[sort] += gone
    return done


@dataclass(frozen=True)
class Doomed:
    """How many rows of a sort would go; more: there are more of them than were looked at."""

    count: int
    more: bool


@dataclass(frozen=True)
class Loss:
    """What the coming night takes from a workspace: everything before `before`, by sort."""

    before: datetime
    runs: Doomed
    sends: Doomed
    events: Doomed


def coming_night(
    session: Session, workspace_id: int, days: int, at: datetime, most: int = MOST_COUNTED
) -> Loss:
    """Return what the next retention after `at` would forget if `days` were kept.

    most: rows of a sort that are looked at, oldest first.
    """
    midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    night = midnight + NIGHTLY
    before = (night if night > at else night + timedelta(days=1)) - timedelta(days=days)
    sends_kept, events_kept = automations.send_in_use(before), automations.event_in_use(before)
    found = (
        automations.old_runs(session, workspace_id, before, 0, most),
        delivery.old_sends(session, workspace_id, before, sends_kept, 0, most),
        events.outdated(session, workspace_id, before, events_kept, 0, most),
    )
    return Loss(before, *(Doomed(len(each.ids), each.after is not None) for each in found))


def _of_workspace(uow: UnitOfWork, workspace_id: int, before: datetime) -> Mapping[str, int]:
    def runs(session: Session, after: int) -> Slice:
        return automations.old_runs(session, workspace_id, before, after)

    def sends(session: Session, after: int) -> Slice:
        in_use = automations.send_in_use()
        return delivery.old_sends(session, workspace_id, before, in_use, after)

    def happened(session: Session, after: int) -> Slice:
        in_use = automations.event_in_use()
        return events.outdated(session, workspace_id, before, in_use, after)

    def lines(session: Session, after: int) -> Slice:
        return audit.outdated(session, workspace_id, before, after)

    def decisions(session: Session, after: int) -> Slice:
        return automations.old_decisions(session, workspace_id, before, after)

    def jobs(session: Session, after: int) -> Slice:
        return automations.old_jobs(session, workspace_id, before, after)

    def requests(session: Session, after: int) -> Slice:
        return accounts.old_requests(session, workspace_id, before, after)

    return {
        "requests": in_slices(uow, requests, accounts.forget_requests),
        "run_jobs": in_slices(uow, jobs, automations.forget_jobs, parts=True),
        "decisions": in_slices(uow, decisions, automations.forget_decisions),
        "runs": in_slices(uow, runs, automations.forget_runs),
        "sends": in_slices(uow, sends, delivery.forget_sends),
        "events": in_slices(uow, happened, events.forget),
        "audit_lines": in_slices(uow, lines, audit.forget),
    }


def _product_events(at: datetime, session: Session, after: int) -> Slice:
    return outbox.outdated(session, at, after)


def purge(uow: UnitOfWork) -> Mapping[str, int]:
    """Remove people who were deleted a while ago, with everything that stands on them.

    Somebody with a run or a mail under way waits for another day. Returns how many people went.
    """
    at = clock.now()
    return {"contacts": sum(_purge_workspace(uow, each.row_id, at) for each in _workspaces(uow))}


def _purge_workspace(uow: UnitOfWork, workspace_id: int, at: datetime) -> int:
    gone = 0

    def people(session: Session, after: int) -> Slice:
        in_use = or_(automations.person_in_use(), delivery.person_in_use())
        return purging.purgeable(session, workspace_id, at, in_use, after)

    def part(session: Session, ids: Sequence[int]) -> int:
        nonlocal gone
        for forget_people in _PARTS:
            if went := forget_people(session, workspace_id, ids):
                return went
        gone += purging.purge(session, workspace_id, ids)
        return 0

    in_slices(uow, people, part, parts=True)
    return gone


def _workspaces(uow: UnitOfWork) -> Sequence[queries.Keeping]:
    with uow.read() as session:
        return queries.keeping(session)
