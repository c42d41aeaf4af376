"""The one routine that changes a status column (architecture 4).

legal edges → pure reducer → guarded update → audit row, product event → effects. `transition` is
the door for one row; `transition_many` is the plural door for runs, step runs and sends, where
counters and the run log take the place of audit rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Executable,
    String,
    Update,
    bindparam,
    select,
    update,
)
from sqlalchemy.orm import Session

from engine.core import audit, outbox
from engine.core.db import Base, table_of
from engine.core.effects import Effect, emit
from engine.core.outcome import Recorded, Refused, Transitioned, missing

RowT = TypeVar("RowT", bound=Base)
InputT = TypeVar("InputT")
Edges = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Change:
    """What a reducer answers: the columns beside the status, the audit line, the effects.

    product_event: name of the event for the product's own analytics (facts 1.13), if any.
    """

    patch: Mapping[str, Any]
    action: str
    details: Mapping[str, audit.Scalar] = field(default_factory=dict)
    effects: Sequence[Effect] = ()
    product_event: str | None = None


@dataclass(frozen=True)
class Machine(Generic[RowT, InputT]):
    """One status column: its row, its legal edges, and the pure rule that says what changes.

    target: the status an input asks for. reduce: (row, input, at) → Change or Refused.
    reenter: inputs that legally act without changing the status (decision A9's reactivation).
    action: the audit action of a self-loop to a status.
    """

    resource: str
    row: type[RowT]
    edges: Edges
    target: Callable[[InputT], str]
    reduce: Callable[[RowT, InputT, datetime], Change | Refused]
    action: Callable[[str], str]
    column: str = "status"
    reenter: Callable[[InputT], bool] = lambda _input: False

    @property
    def status(self) -> Any:
        """Return the status column."""
        return getattr(self.row, self.column)

    def is_(self, status: str) -> ColumnElement[bool]:
        """Return the predicate "is in `status`" with the status as literal SQL text.

        Partial indexes are used only where the planner sees their predicate, so never as a bind.
        """
        return cast(ColumnElement[bool], self.status == _literal(status))

    def at(self, status: str) -> ColumnElement[bool]:
        """Return `is_` over the row's table, for prepared statements."""
        return table_of(self.row).c[self.column] == _literal(status)


def _literal(status: str) -> BindParameter[str]:
    return bindparam(None, status, type_=String(), unique=True, literal_execute=True)


def transition(
    session: Session,
    machine: Machine[RowT, InputT],
    row_id: int,
    asked: InputT,
    actor: audit.Actor,
    at: datetime,
) -> Transitioned | Recorded | Refused:
    """Move one row along one edge, or say why not.

    Order of checks (facts 1.13): existence, self-loop, edge, what the reducer demands. The update
    is guarded by the status that was read: a lost race is Refused("lost_race") and changes nothing.
    """
    model: Any = machine.row
    fresh = select(machine.row).where(model.id == row_id).execution_options(populate_existing=True)
    row = session.scalar(fresh)
    if row is None:
        return missing(f"{machine.resource}_not_found")
    before, after = getattr(row, machine.column), machine.target(asked)
    subject = audit.Subject(row.workspace_id, machine.resource, row.public_id)  # type: ignore[attr-defined]
    if before == after and not machine.reenter(asked):
        details = _details(before, after, {"applied": "recorded", "no_op": True})
        audit.record(session, subject, machine.action(after), actor, at, details)
        return Recorded(before)
    if before != after and (before, after) not in machine.edges:
        return Refused("illegal_edge")
    change = machine.reduce(row, asked, at)
    if isinstance(change, Refused):
        return change
    landed = session.execute(
        update(machine.row)
        .where(model.id == row_id, machine.status == before)
        .values({machine.column: after, **change.patch})
        .returning(model.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if landed is None:
        return Refused("lost_race")
    # Not session.refresh: it reads by key alone, which a scoped session refuses.
    session.scalar(fresh)
    details = _details(before, after, {"applied": "transitioned", **change.details})
    audit.record(session, subject, change.action, actor, at, details)
    if change.product_event is not None:
        _tell(session, subject, change.product_event, actor, at, _details(before, after, {}))
    for effect in change.effects:
        emit(session, effect)
    return Transitioned(before, after)


def _details(before: str, after: str, more: Mapping[str, audit.Scalar]) -> dict[str, audit.Scalar]:
    return {"previous_status": before, "new_status": after, **more}


def _tell(
    session: Session,
    subject: audit.Subject,
    name: str,
    actor: audit.Actor,
    at: datetime,
    statuses: Mapping[str, audit.Scalar],
) -> None:
    properties = {f"{subject.resource}_id": subject.public_id, **statuses}
    outbox.record(session, subject.workspace_id, name, actor, properties, at)


def transition_many(
    session: Session,
    machine: Machine[RowT, Any],
    edge: tuple[str, str],
    where: Iterable[ColumnElement[bool]],
    patch: Mapping[str, Any],
    returning: Sequence[Any] | None = None,
    was: ColumnElement[str] | None = None,
) -> Sequence[Any]:
    """Move every row that matches along one legal edge, in one guarded statement.

    where: what selects the rows besides the old status; may join a `batch_table`.
    patch: the columns beside the status; values or expressions over the batch.
    returning: columns to answer per moved row; the id when left out.
    was: the old status as a column of the batch, for rows that are named one by one. A planner that
    has never seen a row in this status takes the literal for next to nothing, begins there, and
    reads the whole batch again for each row it finds.
    A status that stays (an attempt raised, a lease set) is the edge (s, s) and must be in `edges`.
    """
    before, after = edge
    _must_be_edge(machine, edge)
    model: Any = machine.row
    status = machine.status
    guard = machine.is_(before) if was is None else status == was
    statement = _move(machine.row, guard, where, {machine.column: after, **patch})
    return session.execute(statement.returning(*(returning or [model.id]))).all()


def prepare_many(
    machine: Machine[RowT, Any],
    edge: tuple[str, str],
    where: Iterable[ColumnElement[bool]],
    patch: Mapping[str, Any],
    returning: Sequence[Any] | None = None,
    was: ColumnElement[str] | None = None,
) -> Executable:
    """Return `transition_many` as a statement for `core.db.Prepared`: the same door, built once.

    where, patch, returning, was: over the table of the row (`table_of`) and named binds.
    """
    table = table_of(machine.row)
    _must_be_edge(machine, edge)
    guard = machine.at(edge[0]) if was is None else table.c[machine.column] == was
    statement = _move(table, guard, where, {machine.column: edge[1], **patch})
    return statement.returning(*(returning or [table.c.id]))


def _must_be_edge(machine: Machine[Any, Any], edge: tuple[str, str]) -> None:
    if edge not in machine.edges:
        raise ValueError(f"{machine.resource}: {edge[0]} → {edge[1]} is no edge")


def _move(
    row: Any,
    guard: ColumnElement[bool],
    where: Iterable[ColumnElement[bool]],
    values: Mapping[str, Any],
) -> Update:
    statement = update(row).where(guard, *where).values(values)
    return statement.execution_options(synchronize_session=False)


def born(machine: Machine[Any, Any], status: str) -> dict[str, str]:
    """Return the status column of a row that is created in `status`."""
    return {machine.column: status}


__all__ = [
    "Change",
    "Edges",
    "Machine",
    "born",
    "prepare_many",
    "transition",
    "transition_many",
]
