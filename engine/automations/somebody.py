"""Somebody to try an automation out with: a contact as it stands, or a person made up for it.

Read once; what steps would do to the person changes this value alone, never a row.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.audience import service as people
from engine.audience.inputs import CONSOLE, ContactPatch
from engine.audience.service import Sketch
from engine.audience.values import of_text
from engine.core.outcome import Refused
from engine.delivery.service import Reader
from engine.rules.virtual import Person

FIELDS: Final = ("email", "external_id", "first_name", "last_name", "language", "timezone")


@dataclass(frozen=True)
class Somebody:
    """A person on trial. public_id: '' for one who was made up; topics: public ids.

    opened, clicked: whether ever; unsubscribed_at: of the global opt-out.
    """

    public_id: str
    sketch: Sketch
    source: str
    topics: frozenset[str] = frozenset()
    opened: bool = False
    clicked: bool = False
    unsubscribed_at: datetime | None = None

    @property
    def person(self) -> Person:
        """Return what conditions may ask of the person."""
        return Person(self.sketch.values, self.topics, self.opened, self.clicked)

    @property
    def address(self) -> str | None:
        """Return the e-mail address."""
        return self.sketch.fields.get("email")

    @property
    def timezone(self) -> str | None:
        """Return the person's own time zone; None means the workspace's."""
        return self.sketch.fields.get("timezone")

    @property
    def reader(self) -> Reader:
        """Return what a mail reads of the person."""
        contact: dict[str, Any] = {"id": self.public_id, **self.sketch.fields}
        contact["source"] = self.source
        return Reader(contact, self.sketch.values, self.unsubscribed_at)

    def joined(self, topic_id: str, *, confirmed: bool) -> "Somebody":
        """Return the person in a topic; one that took effect takes the opt-out back (facts 3.4)."""
        since = None if confirmed else self.unsubscribed_at
        return replace(self, topics=self.topics | {topic_id}, unsubscribed_at=since)

    def left(self, topic_id: str) -> "Somebody":
        """Return the person outside a topic."""
        return replace(self, topics=self.topics - {topic_id})


def of_contact(session: Session, workspace_id: int, public_id: str) -> Somebody | None:
    """Return the live contact with this public id as it stands; None when unknown."""
    row = audience.get_contact(session, workspace_id, public_id)
    if row is None:
        return None
    values = audience.property_values(session, workspace_id, [row.row_id]).get(row.row_id, {})
    joined = audience.memberships(session, workspace_id, public_id)
    return Somebody(
        public_id,
        Sketch({key: getattr(row, key) for key in FIELDS}, values),
        row.source,
        frozenset(each.topic_id for each in joined),
        row.has_opened,
        row.has_clicked,
        row.unsubscribed_at,
    )


def invented(
    session: Session,
    workspace_id: int,
    fields: Mapping[str, str | None],
    properties: Mapping[str, object],
    topics: Collection[str] = (),
    *,
    opened: bool = False,
    clicked: bool = False,
) -> Somebody | Refused:
    """Return a person who is nowhere stored, as if created in the console.

    fields: among FIELDS. Refused: `invalid_contact` with problems, as a real contact is judged.
    """
    nobody = Sketch(dict.fromkeys(FIELDS), {"source": of_text(CONSOLE)})
    patch = ContactPatch(fields, properties)
    made = people.foresee_update(session, workspace_id, nobody, patch)
    if isinstance(made, Refused):
        return made
    return Somebody("", made.after, CONSOLE, frozenset(topics), opened, clicked)
