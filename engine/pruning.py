"""Retention and purge: what every room forgets, in bounded slices, in an order that keys allow.

Runs go before the mails and events they refer to; what a kept run refers to stays with it. Totals
stand in the automations' shards and outlive everything here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import or_
from sqlalchemy.orm import Session

from engine.accounts import idempotency, queries
from engine.audience.service import purging
from engine.automations import pruning as automations
from engine.core import audit, clock, events, outbox, rate, ticks
from engine.core.pruning import Slice, in_slices
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import pruning as delivery

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
    done |= {"runs": 0, "sends": 0, "events": 0, "audit_lines": 0}
    for workspace in _workspaces(uow):
        before = at - timedelta(days=workspace.retention_days)
        for sort, gone in _of_workspace(uow, workspace.row_id, before).items():
            done[sort] += gone
    return done


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

    return {
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
