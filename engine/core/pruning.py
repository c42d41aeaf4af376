"""Forgetting in bounded slices: each its own short transaction, with a rest in between.

A slice is picked by reading alone and walks the table by id, so that a million old rows hold no
lock for long and keep nobody from writing (field report SEG-05).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from engine.core.db import among
from engine.core.unit_of_work import UnitOfWork

SLICE: Final = 500
# Others get as much time as a slice took, within these bounds (seconds).
_SHORTEST_REST: Final = 0.005
_LONGEST_REST: Final = 0.25


@dataclass(frozen=True)
class Slice:
    """Rows to forget, and the id behind which the next slice begins; None: nothing is left."""

    ids: Sequence[int]
    after: int | None


Pick = Callable[[Session, int], Slice]
Forget = Callable[[Session, Sequence[int]], int]


def in_slices(uow: UnitOfWork, pick: Pick, forget: Forget, *, parts: bool = False) -> int:
    """Forget slice after slice until nothing is left; return how many rows `forget` says went.

    parts: `forget` does a bounded part of its slice each time and is called until it answers 0.
    """
    after: int | None = 0
    gone = 0
    while after is not None:
        with uow.read() as session:
            found = pick(session, after)
        after = found.after
        went = _forget(uow, found.ids, forget)
        gone += went
        while parts and went:
            went = _forget(uow, found.ids, forget)
            gone += went
    return gone


def _forget(uow: UnitOfWork, ids: Sequence[int], forget: Forget) -> int:
    """Forget one slice, then rest for as long as it took."""
    if not ids:
        return 0
    began = time.monotonic()
    with uow.begin() as session:
        went = forget(session, ids)
    took = time.monotonic() - began
    time.sleep(min(_LONGEST_REST, max(_SHORTEST_REST, took)))
    return went


def oldest(
    session: Session,
    row: Any,
    within: ColumnElement[bool],
    old: ColumnElement[bool],
    by_age: ColumnElement[bool],
    after: int,
    limit: int = SLICE,
) -> Slice:
    """Return the slice of rows `within` that are `old`, behind the id `after`.

    by_age: old by the time of creation alone, which rises with the id: the first page that ends
    with a younger row is the last one.
    """
    page = session.execute(
        select(row.id, old.label("old"), by_age.label("by_age"))
        .where(within, row.id > after)
        .order_by(row.id)
        .limit(limit)
    ).all()
    more = len(page) == limit and bool(page[-1].by_age)
    return Slice([found.id for found in page if found.old], page[-1].id if more else None)


def delete_some(session: Session, row: Any, where: ColumnElement[bool], limit: int = SLICE) -> int:
    """Delete up to `limit` rows that match, by id; return how many went."""
    ids = session.scalars(select(row.id).where(where).order_by(row.id).limit(limit)).all()
    if ids:
        delete_all(session, row, among(session, row.id, ids))
    return len(ids)


def delete_all(session: Session, row: Any, where: ColumnElement[bool]) -> int:
    """Delete every row that matches; return how many went."""
    statement = delete(row).where(where).execution_options(synchronize_session=False)
    return int(session.connection().execute(statement).rowcount)
