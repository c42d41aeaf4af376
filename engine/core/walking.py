"""Claim → run → settle on batches, shared by every walker (architecture 3).

1. Claim (transaction 1): a guarded update raises `attempt` and sets `lease_until`; its own commit.
2. Run (no transaction): the network is allowed here and only here.
3. Settle (transaction 2): per item only if the claimed attempt is still the newest.
A single item is a batch of one. This module names no kind and knows no room.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

import structlog
from sqlalchemy import ColumnElement, Executable, Integer, any_, bindparam, func, select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.orm import Session

from engine.core import clock, faults
from engine.core.db import Prepared, among_bound, gave_way, many, table_of
from engine.core.machine import Machine, prepare_many

log: Final = structlog.get_logger(__name__)

BATCH: Final = 500
# How long one task goes on with steps that are due at once before it hands the rest back.
BUDGET: Final = timedelta(seconds=10)
_SETTLE_PAUSE_S: Final = 0.5
_CLAIM_TRIES: Final = 3

ItemT = TypeVar("ItemT", bound="Item")
OutcomeT = TypeVar("OutcomeT")


class Item(Protocol):
    """A claimed row: its id, the attempt that the claim gave it, and the end of its lease."""

    @property
    def id(self) -> int:
        """Return the row's id."""
        ...

    @property
    def lease_until(self) -> datetime:
        """Return when another worker may take the row."""
        ...


class Walker(Protocol[ItemT, OutcomeT]):
    """The three beats of a room. Each beat opens and commits its own transaction."""

    def claim(self, ids: Sequence[int] | None, limit: int) -> Sequence[ItemT]:
        """Claim up to `limit` due rows (of `ids`, or any) and load their facts."""
        ...

    def parts(self, items: Sequence[ItemT]) -> Sequence[Sequence[ItemT]]:
        """Return claimed items in the groups that are run and settled one after the other."""
        ...

    def run(self, items: Sequence[ItemT]) -> Mapping[int, OutcomeT]:
        """Turn facts into one outcome per item id, without a session."""
        ...

    def crashed(self, item: ItemT, error: Exception) -> OutcomeT:
        """Return the outcome of an item whose run raised."""
        ...

    def settle(self, items: Sequence[ItemT], outcomes: Mapping[int, OutcomeT]) -> Sequence[int]:
        """Write the outcomes; return ids that are due at once and belong to the same walk."""
        ...


@dataclass
class Report:
    """What a walk did. `left` are ids still due when the budget ended."""

    claimed: int = 0
    beats: int = 0
    left: list[int] = field(default_factory=list)


def walk(
    walker: Walker[ItemT, OutcomeT],
    ids: Sequence[int] | None = None,
    limit: int = BATCH,
    budget: timedelta = BUDGET,
) -> Report:
    """Walk due rows until nothing is due at once or the budget is spent.

    ids: rows a hint named; None claims whatever is due, until a claim comes back empty.
    """
    report = Report()
    end = time.monotonic() + budget.total_seconds()
    waiting: list[int] | None = None if ids is None else list(ids)
    while waiting is None or waiting:
        batch = None if waiting is None else waiting[:limit]
        rest = [] if waiting is None else waiting[limit:]
        items = _claim_patiently(walker, batch, limit)
        report.beats += 1
        report.claimed += len(items)
        following = list(beat(walker, items)) if items else []
        if waiting is None and not items:
            break
        if waiting is not None:
            waiting = rest + following
        if time.monotonic() >= end:
            report.left = waiting or []
            break
    return report


def _claim_patiently(
    walker: Walker[ItemT, OutcomeT], ids: Sequence[int] | None, limit: int
) -> Sequence[ItemT]:
    """Claim; begin anew where another transaction won: nothing was written, and rows are due."""
    for _lost in range(_CLAIM_TRIES - 1):
        try:
            return walker.claim(ids, limit)
        except OperationalError as error:
            if not gave_way(error):
                raise
            log.warning("claim_repeated", error=_cause(error))
    return walker.claim(ids, limit)


def beat(walker: Walker[ItemT, OutcomeT], items: Sequence[ItemT]) -> Sequence[int]:
    """Run and settle claimed items, part by part; return what is due at once."""
    faults.point("walk.claimed")
    following: list[int] = []
    for part in walker.parts(items):
        outcomes = run_isolated(part, walker.run, walker.crashed)
        faults.point("walk.ran")
        following.extend(_settle_patiently(walker, part, outcomes))
        faults.point("walk.settled")
    return following


def run_isolated(
    items: Sequence[ItemT],
    run: Callable[[Sequence[ItemT]], Mapping[int, OutcomeT]],
    crashed: Callable[[ItemT, Exception], OutcomeT],
) -> Mapping[int, OutcomeT]:
    """Run items together; where that raises, each by itself: one item's fault is its own.

    So `run` may see an item twice: it must not have told anybody outside before it raises.
    """
    try:
        return run(items)
    except Exception as error:
        if len(items) == 1:
            log.warning("item_crashed", item=items[0].id, error=type(error).__name__, exc_info=True)
            return {items[0].id: crashed(items[0], error)}
    outcomes: dict[int, OutcomeT] = {}
    for item in items:
        outcomes.update(run_isolated([item], run, crashed))
    return outcomes


def _settle_patiently(
    walker: Walker[ItemT, OutcomeT], items: Sequence[ItemT], outcomes: Mapping[int, OutcomeT]
) -> Sequence[int]:
    """Settle; while the database is away keep the results until the lease ends."""
    while True:
        try:
            return walker.settle(items, outcomes)
        except (OperationalError, InterfaceError) as error:
            if clock.now() >= min(item.lease_until for item in items):
                raise
            log.warning("settle_waits", items=len(items), error=_cause(error))
            time.sleep(_SETTLE_PAUSE_S)
        except (DBAPIError, ValueError, TypeError) as error:
            return _settle_singly(walker, items, outcomes, error)


def _settle_singly(
    walker: Walker[ItemT, OutcomeT],
    items: Sequence[ItemT],
    outcomes: Mapping[int, OutcomeT],
    error: Exception,
) -> Sequence[int]:
    """Settle one by one what could not be written together: one item's fault is its own.

    An outcome that cannot be written at all counts as a crash of its item.
    """
    log.warning("settle_refused", items=len(items), error=_cause(error))
    if len(items) == 1:
        return walker.settle(items, {items[0].id: walker.crashed(items[0], error)})
    following: list[int] = []
    for item in items:
        following.extend(_settle_patiently(walker, [item], outcomes))
    return following


def _cause(error: Exception) -> str:
    return type(error.orig if isinstance(error, DBAPIError) else error).__name__


class Claim:
    """How rows of one table are claimed: which are due, in which order, what the claim writes."""

    def __init__(
        self,
        machine: Machine[Any, Any],
        edge: tuple[str, str],
        due: Sequence[ColumnElement[bool]],
        patch: Mapping[str, Any],
        returning: Sequence[Any],
    ) -> None:
        """due, patch: over the row's table and named binds; returning: columns of its table.

        What has been due for longest is claimed first.
        """
        self._machine = machine
        self._edge = edge
        self._due = due
        self._patch = patch
        self._returning = returning
        self._of_ids = Prepared(lambda dialect: self._build(dialect, of_ids=True))
        self._any = Prepared(lambda dialect: self._build(dialect, of_ids=False))

    def take(
        self, session: Session, ids: Sequence[int] | None, limit: int, **values: Any
    ) -> Sequence[Any]:
        """Claim up to `limit` due rows (of `ids`, or any) and return their columns.

        values: of the binds that `due` and `patch` name.
        """
        if ids is None:
            return self._any.run(session, limit=limit, **values).all()
        return self._of_ids.run(session, limit=limit, ids=many(session, ids), **values).all()

    def _build(self, dialect: str, of_ids: bool) -> Executable:
        """Return the guarded update.

        PostgreSQL: `id = ANY(ARRAY(SELECT … FOR UPDATE SKIP LOCKED))`; IN scans the table.
        SQLite: the caller's transaction began immediate, so a plain subquery is safe.
        """
        row = table_of(self._machine.row).c
        picked = select(row.id).where(self._machine.at(self._edge[0]), *self._due)
        if of_ids:
            picked = picked.where(among_bound(dialect, row.id))
        picked = picked.order_by(row.due_at, row.id).limit(bindparam("limit", type_=Integer()))
        if dialect == "postgresql":
            locked = picked.with_for_update(skip_locked=True).scalar_subquery()
            chosen = row.id == any_(func.array(locked))
        else:
            chosen = row.id.in_(picked)
        return prepare_many(self._machine, self._edge, [chosen], self._patch, self._returning)
