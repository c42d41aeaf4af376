"""Domain events: what happened to a person, as rows, and who is told of it.

`record` writes a batch and calls every subscriber in the same transaction, set-wise (decision G9);
rooms subscribe when the house starts, so a lower room never imports an upper one.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Executable,
    Index,
    String,
    UniqueConstraint,
    and_,
    bindparam,
    insert,
    not_,
    select,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from engine.core.db import (
    Base,
    Columns,
    Id,
    Instant,
    JsonObject,
    Prepared,
    WorkspaceChild,
    among,
    json_type,
    packed,
    rows_table,
    table_of,
    workspace_if_embedded,
    workspace_key,
    workspace_reference,
)
from engine.core.ids import new_public_ids
from engine.core.pruning import SLICE, Slice, delete_all, oldest


class Event(WorkspaceChild, Base):
    """One thing that happened to one contact. `kind` is a trigger's word, for example
    `contact_created`; `name` is the event's own name, property or topic where it has one."""

    __tablename__ = "events"
    __table_args__ = (
        workspace_key(),
        workspace_if_embedded(),
        UniqueConstraint("public_id"),
        workspace_reference("contact_id", "contacts"),
        Index("ix_events_workspace_id_contact_id_id", "workspace_id", "contact_id", "id"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40))
    contact_id: Mapped[int] = mapped_column(Id)
    kind: Mapped[str] = mapped_column(String(40))
    name: Mapped[str | None] = mapped_column(String(100))
    data: Mapped[JsonObject] = mapped_column(json_type())
    source: Mapped[str] = mapped_column(String(20))
    occurred_at: Mapped[datetime] = mapped_column(Instant)
    recorded_at: Mapped[datetime] = mapped_column(Instant)


# Where an event's data keeps what caused it.
CAUSE: Final = "cause"


@dataclass(frozen=True)
class Cause:
    """Why an event happened that no person and no program made happen.

    data: JSON object, kept with the event; starts: False where it must start nothing any more.
    """

    data: Mapping[str, object]
    starts: bool


@dataclass(frozen=True)
class NewEvent:
    """An event to record. data: JSON object; occurred_at: the event's own time (decision A2).

    start_automations: False for bulk writes that must start nothing (decision A2).
    """

    workspace_id: int
    contact_id: int
    kind: str
    source: str
    occurred_at: datetime
    name: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    start_automations: bool = True


@dataclass(frozen=True)
class RecordedEvent:
    """A recorded event as subscribers see it; `id` is the row, `public_id` what people see."""

    id: int
    public_id: str
    event: NewEvent


@dataclass(frozen=True)
class Recording:
    """What `record` answers: the events in the order given, and runs started per event row."""

    events: tuple[RecordedEvent, ...]
    started: Counter[int]


# A subscriber answers how many runs it started, by event row.
Subscriber = Callable[[Session, Sequence[RecordedEvent], datetime], Counter[int]]

_subscribers: Final[dict[str, Subscriber]] = {}
_COLUMNS: Final[Columns] = {
    "public_id": String(),
    "workspace_id": Id,
    "contact_id": Id,
    "kind": String(),
    "name": String(),
    "data": json_type(),
    "source": String(),
    "occurred_at": Instant(),
}


def subscribe(name: str, subscriber: Subscriber) -> None:
    """Have `subscriber` called for every batch; the same name again replaces the former."""
    _subscribers[name] = subscriber


def record(session: Session, batch: Sequence[NewEvent], at: datetime) -> Recording:
    """Write the events and tell the subscribers, all in the caller's transaction."""
    if not batch:
        return Recording((), Counter())
    public_ids = new_public_ids(len(batch))
    rows = [_row(event, f"evt_{each}") for event, each in zip(batch, public_ids, strict=True)]
    written = _RECORD.run(session, rows=packed(session, rows), at=at).all()
    ids: dict[str, int] = dict(written)
    events = tuple(
        RecordedEvent(ids[str(row["public_id"])], str(row["public_id"]), event)
        for row, event in zip(rows, batch, strict=True)
    )
    started: Counter[int] = Counter()
    for subscriber in _subscribers.values():
        started.update(subscriber(session, events, at))
    return Recording(events, started)


def outdated(
    session: Session,
    workspace_id: int,
    before: datetime,
    in_use: ColumnElement[bool],
    after: int,
    limit: int = SLICE,
) -> Slice:
    """Return a workspace's events recorded before `before`, behind the row id `after`.

    in_use: what an upper room says of a row of events that it still refers to.
    """
    row = Event
    old = row.recorded_at < before
    within = row.workspace_id == workspace_id
    return oldest(session, row, within, and_(old, not_(in_use)), old, after, limit)


def forget(session: Session, event_ids: Sequence[int]) -> int:
    """Delete events; return how many went."""
    return delete_all(session, Event, among(session, Event.id, event_ids))


def forget_people(session: Session, workspace_id: int, contact_ids: Sequence[int]) -> int:
    """Delete a bounded part of what happened to these people; return how many events went."""
    theirs = among(session, Event.contact_id, contact_ids)
    found = select(Event.id).where(Event.workspace_id == workspace_id, theirs)
    ids = session.scalars(found.order_by(Event.id).limit(SLICE)).all()
    return forget(session, ids) if ids else 0


def caused(event: NewEvent, cause: Cause | None) -> NewEvent:
    """Return the event with its cause; None leaves it as it is."""
    if cause is None:
        return event
    starts = event.start_automations and cause.starts
    return replace(event, data={**event.data, CAUSE: dict(cause.data)}, start_automations=starts)


def _row(event: NewEvent, public_id: str) -> dict[str, object]:
    row = {
        "public_id": public_id,
        "workspace_id": event.workspace_id,
        "contact_id": event.contact_id,
        "kind": event.kind,
        "data": dict(event.data),
        "source": event.source,
        "occurred_at": event.occurred_at,
    }
    return row if event.name is None else {**row, "name": event.name}


def _prepare(dialect: str) -> Executable:
    table, rows = table_of(Event), rows_table(dialect, _COLUMNS)
    values = [*rows.c, bindparam("at", type_=Instant())]
    statement = insert(table).from_select([*_COLUMNS, "recorded_at"], select(*values))
    return statement.returning(table.c.public_id, table.c.id)


_RECORD: Final = Prepared(_prepare)
