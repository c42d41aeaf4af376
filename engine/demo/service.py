"""Loads and removes the sample content. What a load made is listed in its line of the audit log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries
from engine.audience import service as audience
from engine.audience.inputs import CONSOLE, STRICT, EventInput
from engine.automations import service as automations
from engine.automations.service import Wish
from engine.core import audit
from engine.core.audit import AuditEntry, Subject
from engine.core.outcome import Refused
from engine.delivery import service as delivery
from engine.demo import content
from engine.demo.content import Person
from engine.demo.erasing import erase

ACTOR: Final = audit.system("demo")
LOADED: Final = "demo.loaded"
REMOVED: Final = "demo.removed"
# In the order in which they are taken away again.
KINDS: Final = ("automations", "contacts", "templates", "topics", "properties")

ResultT = TypeVar("ResultT")
Made = dict[str, list[str]]


class Broken(Exception):
    """The sample content does not pass the product's own services; a bug."""


@dataclass(frozen=True)
class Loaded:
    """What a load made."""

    contacts: int
    automations: int


@dataclass(frozen=True)
class Removed:
    """What a removal took away; 0 of each when there was nothing."""

    contacts: int
    automations: int


def load(session: Session, workspace_id: int, at: datetime) -> Loaded | Refused:
    """Load the sample content into a workspace. Refused: `demo_loaded` when it is there already."""
    if _standing(session, workspace_id) is not None:
        return Refused("demo_loaded")
    made: Made = {kind: [] for kind in KINDS}
    _define(session, workspace_id, made, at)
    # The longest known first: lists that show the newest row on top then tell the truth.
    for person in sorted(content.people(), key=lambda person: person.created, reverse=True):
        _create(session, workspace_id, person, made, at)
    _happen(session, workspace_id, made, at)
    details = {kind: ",".join(ids) for kind, ids in made.items()}
    audit.record(session, Subject(workspace_id, "demo", None), LOADED, ACTOR, at, details)
    return Loaded(len(made["contacts"]), len(made["automations"]))


def remove(session: Session, workspace_id: int, at: datetime) -> Removed:
    """Take away exactly what the load made and nobody has taken away since; harmless twice."""
    made = _standing(session, workspace_id)
    if made is None:
        return Removed(0, 0)
    gone = {
        kind: sum(
            _take_away(session, workspace_id, kind, public_id, at) for public_id in made[kind]
        )
        for kind in KINDS
    }
    erase(session, workspace_id, made["contacts"], made["automations"])
    audit.record(session, Subject(workspace_id, "demo", None), REMOVED, ACTOR, at, gone)
    return Removed(gone["contacts"], gone["automations"])


def standing(session: Session, workspace_id: int) -> bool:
    """Return whether sample content was loaded into the workspace and not removed since."""
    return _standing(session, workspace_id) is not None


def _standing(session: Session, workspace_id: int) -> Made | None:
    """Return the ids of the last load unless it was removed since."""
    row = session.execute(
        select(AuditEntry.action, AuditEntry.details)
        .where(AuditEntry.workspace_id == workspace_id, AuditEntry.action.in_((LOADED, REMOVED)))
        .order_by(AuditEntry.id.desc())
        .limit(1)
    ).first()
    if row is None or row.action == REMOVED:
        return None
    return {kind: [one for one in row.details[kind].split(",") if one] for kind in KINDS}


def _define(session: Session, workspace_id: int, made: Made, at: datetime) -> None:
    """Make properties, topic and templates, then the automations, switched on."""
    for definition in content.PROPERTIES:
        answer = audience.create_property(session, workspace_id, definition, ACTOR, at)
        if not isinstance(answer, Refused):
            # A property of that name that was there before serves as well, and stays.
            made["properties"].append(answer.public_id)
    topic = _done(audience.create_topic(session, workspace_id, content.TOPIC, ACTOR, at)).public_id
    made["topics"].append(topic)
    templates: dict[str, str] = {}
    for name, wanted in content.TEMPLATES.items():
        template = _done(delivery.create_template(session, workspace_id, wanted, ACTOR, at))
        templates[name] = template.public_id
    made["templates"].extend(templates.values())
    earlier = at - content.AUTOMATIONS_AGE
    for document in content.automations(templates, topic):
        public_id = _done(
            automations.create(session, workspace_id, document, ACTOR, earlier)
        ).public_id
        _done(automations.move(session, workspace_id, public_id, Wish("active"), ACTOR, earlier))
        made["automations"].append(public_id)


def _create(session: Session, workspace_id: int, person: Person, made: Made, at: datetime) -> None:
    """Add a person; the address of somebody real is left alone."""
    created = at - person.created
    saved = audience.save_contact(session, workspace_id, person.contact, STRICT, CONSOLE, created)
    if not isinstance(saved, Refused):
        made["contacts"].append(saved.contact.public_id)


def _happen(session: Session, workspace_id: int, made: Made, at: datetime) -> None:
    """Let happen what happened to the sample people since, in the order of time."""
    people = {person.contact.email: person for person in content.people()}
    known = [queries.get_contact(session, workspace_id, one) for one in made["contacts"]]
    pairs = [(contact, people[contact.email]) for contact in known if contact is not None]
    [topic] = made["topics"]
    happenings = [
        (at - age, contact, kind)
        for contact, person in pairs
        for kind, age in (("topic", person.subscribed), ("trial", person.trial))
        if age is not None
    ]
    for then, contact, kind in sorted(happenings, key=lambda happening: happening[0]):
        if kind == "topic":
            _done(
                audience.subscribe(session, workspace_id, topic, contact.public_id, CONSOLE, then)
            )
            continue
        event = EventInput(
            event_name=content.TRIAL_EVENT,
            contact_id=contact.public_id,
            event_properties={"plan": contact.properties["plan"]},
        )
        _done(audience.receive_event(session, workspace_id, event, CONSOLE, then))


def _take_away(
    session: Session, workspace_id: int, kind: str, public_id: str, at: datetime
) -> bool:
    """Delete one thing; return whether it was still there."""
    if kind == "automations":
        automations.move(session, workspace_id, public_id, Wish("paused"), ACTOR, at)
        return not isinstance(
            automations.remove(session, workspace_id, public_id, ACTOR, at), Refused
        )
    delete = {
        "contacts": audience.delete_contact,
        "templates": delivery.delete_template,
        "topics": audience.delete_topic,
        "properties": audience.delete_property,
    }[kind]
    return not isinstance(delete(session, workspace_id, public_id, ACTOR, at), Refused)


def _done(answer: ResultT | Refused) -> ResultT:
    if isinstance(answer, Refused):
        raise Broken(f"{answer.reason}: {answer.problems}")
    return answer
