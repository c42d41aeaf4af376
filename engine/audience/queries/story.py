"""What happened to one person, newest first: the line every room answers, and audience's own lines.

Rooms above answer the same `story`; lines of all rooms have one total order, so that they merge.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, false, or_, select, true
from sqlalchemy.orm import Session

from engine.core.events import Event

EVENT: Final = "event"
# Longest text of an event's own data that a line carries along.
_SHOWN: Final = 500


@dataclass(frozen=True, order=True)
class StoryPlace:
    """Where a line stands among the lines of all rooms; later is greater.

    strand: the line's `kind`. row_id: the row it was read from, never shown to people.
    """

    at: datetime
    strand: str
    row_id: int


@dataclass(frozen=True)
class StoryLine:
    """One line of a person's story.

    kind: the strand, for example `event`, `run`, `send`; one row gives one line per strand.
    title_code: what happened, for the catalogue. params: its parts, flat. ref: public id of the
    thing itself (an event, a run, a send). row_id: the row, for the order alone.
    """

    at: datetime
    kind: str
    title_code: str
    params: Mapping[str, str] = field(default_factory=dict)
    ref: str | None = None
    row_id: int = 0

    @property
    def place(self) -> StoryPlace:
        """Return the line's place in the order of all rooms."""
        return StoryPlace(self.at, self.kind, self.row_id)


def earlier(at: Any, row_id: Any, strand: str, before: StoryPlace | None) -> ColumnElement[bool]:
    """Return the predicate "this row's line comes before the place `before`" for one strand.

    at, row_id: the columns that give a line its instant and its row. None: no bound.
    """
    if before is None:
        return true()
    if strand == before.strand:
        tied: ColumnElement[bool] = row_id < before.row_id
    else:
        tied = true() if strand < before.strand else false()
    return or_(at < before.at, and_(at == before.at, tied))


def story(
    session: Session,
    workspace_id: int,
    contact_row_id: int,
    before: StoryPlace | None = None,
    limit: int = 50,
) -> list[StoryLine]:
    """Return what was recorded of a contact: created, updated, deleted, events, topic changes.

    title_code is the event's kind; params where there are any: name, source, topic (its name),
    changed (keys, comma-separated), properties (JSON, cut), occurred_at (ISO, where it differs
    from when it was recorded). Newest first.
    """
    rows = session.execute(
        select(
            Event.id,
            Event.public_id,
            Event.kind,
            Event.name,
            Event.data,
            Event.source,
            Event.occurred_at,
            Event.recorded_at,
        )
        .where(
            Event.workspace_id == workspace_id,
            Event.contact_id == contact_row_id,
            earlier(Event.recorded_at, Event.id, EVENT, before),
        )
        .order_by(Event.recorded_at.desc(), Event.id.desc())
        .limit(limit)
    ).all()
    return [
        StoryLine(row.recorded_at, EVENT, row.kind, _params(row), row.public_id, row.id)
        for row in rows
    ]


def _params(row: Any) -> dict[str, str]:
    params = {"source": str(row.source)}
    if row.name is not None:
        params["name"] = row.name
    if "topic_name" in row.data:
        params["topic"] = str(row.data["topic_name"])[:_SHOWN]
    if "changed_properties" in row.data:
        params["changed"] = ", ".join(row.data["changed_properties"])[:_SHOWN]
    if row.data.get("event_properties"):
        shown = json.dumps(row.data["event_properties"], ensure_ascii=False)
        params["properties"] = shown[:_SHOWN]
    if row.occurred_at != row.recorded_at:
        params["occurred_at"] = row.occurred_at.isoformat()
    return params
