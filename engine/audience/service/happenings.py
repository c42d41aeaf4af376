"""Events that outside programs send, or a person by hand (facts 1.4, decision A18)."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from engine.audience.addresses import read_address
from engine.audience.inputs import CONSOLE, UPSERT, ContactInput, EventInput, ReceivedEvent
from engine.audience.queries import ContactRow, contacts_by_row_id, find_by_email, get_contact
from engine.audience.service.resolving import Landed, Writing, resolve
from engine.audience.values import LONGEST
from engine.core import audit, events
from engine.core.outcome import Problem, Refused, below, missing
from engine.core.text import storable

RECEIVED: Final = "event_received"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}", re.ASCII)
_MOST_PROPERTIES: Final = 200
_LONGEST_KEY: Final = 200
# A sender's clock may be ahead; a date beyond this is a mistake. Nothing happened before 1970.
_AHEAD: Final = timedelta(days=1)
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What a JSON number may hold so that every reader gets the same number back.
_WIDEST: Final = 2**63


def receive_event(
    session: Session, workspace_id: int, sent: EventInput, source: str, at: datetime
) -> ReceivedEvent | Refused:
    """Record an event of one person and start what waits for it, all in this transaction (G9).

    The person is found by contact_id or e-mail, or created where the event asks for it; then
    contact_created comes before event_received, so one event can start two runs (facts 1.4).
    Refused: `invalid_event` with problems, `contact_not_found`, `identity_conflict`.
    """
    problems = _problems(sent, at)
    if problems:
        return Refused("invalid_event", "invalid", tuple(problems))
    under_way = Writing(workspace_id, source, at)
    person = _person(session, under_way, sent)
    if isinstance(person, Refused):
        return person
    created = bool(under_way.happened)
    supplied = sent.event_properties is not None
    data = {"event_properties": dict(sent.event_properties or {})} if supplied else {}
    happened = events.NewEvent(
        workspace_id,
        person.row_id,
        RECEIVED,
        source,
        sent.occurred_at or at,
        sent.event_name,
        data,
    )
    recording = events.record(session, [*under_way.happened, happened], at)
    return ReceivedEvent(
        recording.events[-1].public_id,
        person.public_id,
        recording.started.total(),
        created,
    )


def _person(session: Session, under_way: Writing, sent: EventInput) -> ContactRow | Refused:
    workspace_id = under_way.workspace_id
    if sent.contact_id is not None:
        found = get_contact(session, workspace_id, sent.contact_id)
        if found is not None and sent.email is not None and found.email != read_address(sent.email):
            return Refused("identity_conflict", params={"id": found.public_id})
        return found or missing("contact_not_found")
    email = str(sent.email)
    found = find_by_email(session, workspace_id, email)
    if found is not None or not sent.create_contact_if_not_exists:
        return found or missing("contact_not_found")
    resolve(session, under_way, [ContactInput(email=email)], UPSERT)
    outcome = under_way.outcomes[0]
    if not isinstance(outcome, Landed):
        return outcome
    return contacts_by_row_id(session, workspace_id, [outcome.row_id])[outcome.row_id]


def _problems(sent: EventInput, at: datetime) -> list[Problem]:
    """Return what is wrong with the event, in the order of facts 1.4."""
    found: list[Problem] = []
    if sent.email is None and sent.contact_id is None:
        found.append(Problem("/email", "required"))
    if sent.email is not None and read_address(sent.email) is None:
        found.append(Problem("/email", "invalid_email"))
    if not _NAME.fullmatch(sent.event_name):
        found.append(Problem("/event_name", "invalid_event_name"))
    found += _property_problems(sent.event_properties or {})
    if sent.occurred_at is not None:
        if sent.occurred_at > at + _AHEAD:
            found.append(Problem("/occurred_at", "in_the_future"))
        elif sent.occurred_at < _FIRST:
            found.append(Problem("/occurred_at", "too_long_ago"))
    return found


def _property_problems(properties: Mapping[str, object]) -> list[Problem]:
    if len(properties) > _MOST_PROPERTIES:
        return [Problem("/event_properties", "too_many", {"limit": _MOST_PROPERTIES})]
    found = []
    for key, value in properties.items():
        pointer = below("/event_properties", key)
        if not key or len(key) > _LONGEST_KEY or not storable(key):
            found.append(Problem("/event_properties", "invalid_key"))
        elif not isinstance(value, str | int | float | None):
            found.append(Problem(pointer, "not_a_primitive"))
        elif isinstance(value, str) and len(value) > LONGEST:
            found.append(Problem(pointer, "too_long", {"limit": LONGEST}))
        elif not _keepable(value):
            found.append(Problem(pointer, "invalid_value"))
    return found


def _keepable(value: str | float | None) -> bool:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or abs(value) < _WIDEST


def fire_event(
    session: Session, workspace_id: int, sent: EventInput, actor: audit.Actor, at: datetime
) -> ReceivedEvent | Refused:
    """Have an event happen to a person by hand, audited (decision A18); see `receive_event`."""
    received = receive_event(session, workspace_id, sent, CONSOLE, at)
    if isinstance(received, Refused):
        return received
    told: dict[str, audit.Scalar] = {
        "event": received.event_id,
        "event_name": sent.event_name,
        "started": received.triggered_automations,
    }
    subject = audit.Subject(workspace_id, "contact", received.contact_id)
    audit.record(session, subject, "event.fired", actor, at, told)
    return received
