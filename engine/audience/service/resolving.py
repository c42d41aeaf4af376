"""Identity resolution (facts 3.1): who an input names, and what a write makes of that person.

Works a batch in turns: of two inputs that name one person the second waits for the first, and an
input that lost a race for its address is looked up again. The caller records the events.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.inputs import (
    STRICT,
    UPSERT,
    Action,
    ContactInput,
    ContactPatch,
    Mode,
    SavedContact,
)
from engine.audience.models import Property
from engine.audience.queries import contacts_by_row_id
from engine.audience.service import writing
from engine.audience.service.cleaning import Change, clean_input
from engine.audience.service.writing import Rewrite, Stored
from engine.core import events
from engine.core.outcome import Problem, Refused
from engine.core.text import storable

CREATED: Final = "contact_created"
UPDATED: Final = "contact_updated"
# What contact_updated can watch beside custom properties (decision A1, facts 1.3).
WATCHED: Final = ("email", "first_name", "last_name", "language", "timezone")
# A race lost this often on one address is no accident any more.
_ROUNDS: Final = 5


@dataclass
class Landed:
    """Where a write of one contact ended: its row, or why not."""

    row_id: int
    action: Action
    changed: tuple[str, ...] = ()


@dataclass
class Writing:
    """A batch under way: outcomes by place in the batch or contact row, events in order.

    causes: what made the changes happen, by contact row; left out where a person or program did.
    """

    workspace_id: int
    source: str
    at: datetime
    start_automations: bool = True
    causes: Mapping[int, events.Cause] = field(default_factory=dict)
    outcomes: dict[int, Landed | Refused] = field(default_factory=dict)
    happened: list[events.NewEvent] = field(default_factory=list)

    def note(self, row_id: int, kind: str, data: Mapping[str, object]) -> None:
        """Add the event of one contact; it is recorded with the whole batch."""
        event = events.NewEvent(
            self.workspace_id,
            row_id,
            kind,
            self.source,
            self.at,
            data=data,
            start_automations=self.start_automations,
        )
        self.happened.append(events.caused(event, self.causes.get(row_id)))


def resolve(
    session: Session, under_way: Writing, batch: Sequence[ContactInput], mode: Mode
) -> None:
    """Write the batch into `under_way`; the caller records its events."""
    definitions = property_types(session, under_way.workspace_id, batch)
    waiting: dict[int, Change] = {}
    for place, sent in enumerate(batch):
        change = clean_input(sent, definitions)
        if isinstance(change, list):
            under_way.outcomes[place] = invalid_contact(change)
        else:
            waiting[place] = change
    rounds = 0
    while waiting and rounds < len(batch) + _ROUNDS:
        rounds += 1
        turn = _one_per_person(waiting)
        _take_turn(session, under_way, turn, mode)
        waiting = {
            place: each for place, each in waiting.items() if place not in under_way.outcomes
        }
    for place in waiting:
        under_way.outcomes[place] = Refused("lost_race")


def _one_per_person(waiting: Mapping[int, Change]) -> dict[int, Change]:
    """Return the first change of each person; the later ones wait for it to be written."""
    turn: dict[int, Change] = {}
    seen: set[tuple[str, str]] = set()
    for place, change in waiting.items():
        keys = {(key, text) for key in writing.KEYS if (text := change.fields.get(key)) is not None}
        if seen.isdisjoint(keys):
            turn[place] = change
        seen |= keys
    return turn


def _take_turn(
    session: Session, under_way: Writing, turn: Mapping[int, Change], mode: Mode
) -> None:
    stored = writing.by_keys(session, under_way.workspace_id, list(turn.values()))
    known = {
        (key, text): each
        for each in stored
        for key in writing.KEYS
        if (text := each.fields[key]) is not None
    }
    new: dict[int, Change] = {}
    rewrites: dict[int, Rewrite] = {}
    for place, change in turn.items():
        matched = _match(change, known)
        if matched is None:
            new[place] = change
        elif isinstance(matched, Refused):
            under_way.outcomes[place] = matched
        elif mode == STRICT:
            under_way.outcomes[place] = Refused("already_exists", params={"id": matched.public_id})
        elif mode == UPSERT:
            under_way.outcomes[place] = Landed(matched.id, "matched")
        else:
            rewrites[place] = plan(matched, change)
    rewrite(session, under_way, rewrites)
    _create(session, under_way, new)


def _match(change: Change, known: Mapping[tuple[str, str], Stored]) -> Stored | Refused | None:
    by_email = known.get(("email", change.email or ""))
    by_external = known.get(("external_id", change.external_id or ""))
    if by_email is not None and by_external is not None and by_email.id != by_external.id:
        return Refused("identity_conflict", params={"id": by_email.public_id})
    return by_email or by_external


def _create(session: Session, under_way: Writing, new: Mapping[int, Change]) -> None:
    """Insert the new ones; who lost a race has no outcome yet and is looked up in the next turn."""
    if not new:
        return
    row_ids = writing.insert_contacts(
        session, under_way.workspace_id, list(new.values()), under_way.source, under_way.at
    )
    for place, row_id in zip(new, row_ids, strict=True):
        if row_id is not None:
            under_way.outcomes[place] = Landed(row_id, "created")
            under_way.note(row_id, CREATED, {"source": under_way.source})


def plan(stored: Stored, change: Change) -> Rewrite:
    """Return what `change` makes of the contact, and which watched keys really change."""
    fields = {**stored.fields, **change.fields} if change.fields else stored.fields
    changed = [key for key in WATCHED if key in change.fields and fields[key] != stored.fields[key]]
    values = {key: value for key, value in change.values.items() if value != stored.values.get(key)}
    return Rewrite(stored, fields, values, (*changed, *values))


def rewrite(session: Session, under_way: Writing, rewrites: Mapping[int, Rewrite]) -> None:
    """Write the planned changes, with one contact_updated each for what it watches."""
    busy = [each for each in rewrites.values() if not each.idle]
    taken = writing.rewrite_contacts(session, under_way.workspace_id, busy, under_way.at)
    for place, each in rewrites.items():
        if each.stored.id in taken:
            under_way.outcomes[place] = Refused("identity_conflict")
            continue
        action: Action = "matched" if each.idle else "updated"
        under_way.outcomes[place] = Landed(each.stored.id, action, each.changed)
        if each.changed:
            data = {"changed_properties": list(each.changed)}
            under_way.note(each.stored.id, UPDATED, data)


def answer(
    session: Session, under_way: Writing, places: Iterable[int]
) -> list[SavedContact | Refused]:
    """Return the outcomes of these places in order, with the contacts as they now stand."""
    row_ids = {each.row_id for each in under_way.outcomes.values() if isinstance(each, Landed)}
    rows = contacts_by_row_id(session, under_way.workspace_id, row_ids)
    answers: list[SavedContact | Refused] = []
    for place in places:
        outcome = under_way.outcomes[place]
        if isinstance(outcome, Landed):
            answers.append(SavedContact(rows[outcome.row_id], outcome.action, outcome.changed))
        else:
            answers.append(outcome)
    return answers


def property_types(
    session: Session,
    workspace_id: int,
    named: Iterable[ContactInput | ContactPatch],
    *,
    keep: bool = True,
) -> dict[str, str]:
    """Return the types of the custom properties that these inputs name, by key.

    keep: nobody deletes them until the caller's transaction ends, so that no value is left behind
    without its property.
    """
    keys = {key for each in named for key in each.properties}
    if not keys:
        return {}
    asked = select(Property.key, Property.type).where(
        Property.workspace_id == workspace_id,
        Property.key.in_([key for key in keys if storable(key)]),
    )
    if keep:
        asked = asked.with_for_update(read=True, key_share=True)
    return dict(session.execute(asked).all())


def invalid_contact(problems: Sequence[Problem]) -> Refused:
    """Return the refusal of an input or a patch with everything that is wrong with it."""
    return Refused("invalid_contact", "invalid", tuple(problems))
