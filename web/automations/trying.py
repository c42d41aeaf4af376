"""What a reader asks of a simulation: read from the address, handed to the engine, faults by field.

The whole question stands in the address (a form with method get), so that a link repeats it and
nothing begins a transaction that writes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from flask_babel import gettext as _
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from engine.audience import queries as audience
from engine.automations.queries.trials import Invented, RunInput, Wanted
from engine.automations.somebody import FIELDS
from engine.core.outcome import Problem, Refused
from web.people import messages

# Names of the form's fields: a property's key, a step's key behind them.
PROPERTY: Final = "p."
CHOICE: Final = "choice."
MADE_UP: Final = "invented"
_LONGEST: Final = 20_000


@dataclass(frozen=True)
class Asked:
    """The form as it was sent. contact: an address, number or id; event: JSON text.

    sent: whether anything was asked at all; wrong: sentences by field.
    """

    made_up: bool = False
    sent: bool = False
    contact: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    topics: frozenset[str] = frozenset()
    opened: bool = False
    clicked: bool = False
    event: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)


def read(args: "MultiDict[str, str]") -> Asked:
    """Return what the address asks."""
    made_up = args.get("as") == MADE_UP
    contact = args.get("contact", "").strip()
    return Asked(
        made_up=made_up,
        sent="go" in args or (bool(contact) and not made_up),
        contact=contact,
        fields={key: args.get(key, "") for key in FIELDS},
        properties=_behind(args, PROPERTY),
        topics=frozenset(args.getlist("topic")),
        opened="opened" in args,
        clicked="clicked" in args,
        event=args.get("event", "").strip(),
        choices=_behind(args, CHOICE),
    )


def of_run(asked: Asked, run: RunInput) -> Asked:
    """Return the question that repeats what a run was started with (check 38a)."""
    event = run.trigger.get("event_properties") or ""
    return replace(asked, made_up=False, sent=True, contact=run.contact_id, event=str(event))


def wanted(session: Session, workspace_id: int, asked: Asked, at: datetime) -> Wanted | Asked:
    """Return what the engine shall try, or the question with what is wrong with it."""
    event = _event(asked.event)
    if isinstance(event, str):
        return _at_fault(asked, {"event": event})
    if asked.made_up:
        return Wanted(at, None, _invented(asked), event, asked.choices)
    person = audience.get_contact(session, workspace_id, asked.contact) or audience.find_person(
        session, workspace_id, asked.contact
    )
    if person is None:
        code = "contact_not_found" if asked.contact else "contact_required"
        return _at_fault(asked, {"contact": messages.words(Refused(code))})
    return Wanted(at, person.public_id, None, event, asked.choices)


def refused(asked: Asked, no: Refused) -> Asked:
    """Return the question with what the engine found wrong with the person made up."""
    return _at_fault(asked, {_field(each): messages.words(each) for each in no.problems})


def _at_fault(asked: Asked, wrong: Mapping[str, str]) -> Asked:
    return replace(asked, wrong=wrong)


def _field(found: Problem) -> str:
    path = found.pointer.strip("/")
    if path.startswith("properties/"):
        key = path.removeprefix("properties/").replace("~1", "/").replace("~0", "~")
        return f"{PROPERTY}{key}"
    return path


def _behind(args: "MultiDict[str, str]", lead: str) -> Mapping[str, str]:
    return {
        name.removeprefix(lead): value
        for name, value in args.items()
        if name.startswith(lead) and value != ""
    }


def _invented(asked: Asked) -> Invented:
    named: Mapping[str, str | None] = {key: text or None for key, text in asked.fields.items()}
    return Invented(named, asked.properties, asked.topics, asked.opened, asked.clicked)


def _event(text: str) -> Mapping[str, Any] | str | None:
    """Return the properties that a JSON text spells, None for no text, or what is wrong with it."""
    if not text:
        return None
    try:
        read_as = json.loads(text[:_LONGEST])
    except (ValueError, RecursionError):
        read_as = None
    if not isinstance(read_as, dict):
        return str(_('Write an object in JSON, such as {"plan": "pro"}.'))
    if any(isinstance(value, dict | list) for value in read_as.values()):
        return str(_("Every value must be a text, a number, true, false or null."))
    return read_as
