"""Trying out the draft of an automation: who goes through it, from what, on which clock.

One door for the page, the API and the command line, so that all three show the same.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations.document import Document, read_document
from engine.automations.models import Automation, AutomationRun
from engine.automations.service import draft_document, find
from engine.automations.simulating import Simulation, Trial, simulate, trigger_data
from engine.automations.somebody import Somebody, invented, of_contact
from engine.core.db import JsonObject
from engine.core.ids import is_public_id
from engine.core.outcome import Refused, invalid, missing
from engine.delivery.links import Links


@dataclass(frozen=True)
class Invented:
    """A person to make up. fields: built-in ones, by key; topics: public ids."""

    fields: Mapping[str, str | None] = field(default_factory=dict)
    properties: Mapping[str, object] = field(default_factory=dict)
    topics: Collection[str] = ()
    opened: bool = False
    clicked: bool = False


@dataclass(frozen=True)
class Wanted:
    """What to try. contact_id: a contact's public id, or `invented` in its place.

    event: properties of the event that starts it, None for none; choices: outcomes by step key.
    """

    at: datetime
    contact_id: str | None = None
    invented: Invented | None = None
    event: Mapping[str, Any] | None = None
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Tried:
    """The draft that was tried, who went through it, and the way."""

    content: JsonObject
    who: Somebody
    simulation: Simulation


@dataclass(frozen=True)
class RunInput:
    """What a run was started with. contact_id: public id; event: properties, None for none."""

    contact_id: str
    trigger: JsonObject


def try_out(
    session: Session, workspace_id: int, automation_id: str, wanted: Wanted, links: Links
) -> Tried | Refused:
    """Return the way of a person through the draft; writes nothing, sends nothing.

    Refused: automation_not_found, contact_not_found, contact_required, invalid_contact with
    problems below /person, invalid_document for a draft that this version cannot read.
    """
    row = find(session, workspace_id, automation_id) if is_public_id(automation_id) else None
    if row is None:
        return missing("automation_not_found")
    who = _who(session, workspace_id, wanted)
    if isinstance(who, Refused):
        return who
    content = draft_document(session, row)
    document = read_document(content)
    if isinstance(document, Refused):
        return document
    trial = _trial(row, document, who, wanted)
    return Tried(content, who, simulate(session, workspace_id, trial, links))


def run_input(
    session: Session, workspace_id: int, automation_id: str, run_id: str
) -> RunInput | None:
    """Return what started a run of the automation, to try the same again; None when unknown.

    A person who was deleted meanwhile has no public id to try with, so that is unknown too.
    """
    if not is_public_id(automation_id) or not is_public_id(run_id):
        return None
    run = AutomationRun
    found = session.execute(
        select(Contact.public_id, run.trigger_data)
        .join(run, (run.contact_id == Contact.id) & (run.workspace_id == Contact.workspace_id))
        .join(
            Automation,
            (Automation.id == run.automation_id) & (Automation.workspace_id == run.workspace_id),
        )
        .where(
            run.workspace_id == workspace_id,
            run.public_id == run_id,
            Automation.public_id == automation_id,
            Contact.deleted_at.is_(None),
        )
    ).first()
    return None if found is None else RunInput(found[0], found[1] or {})


def _trial(row: Automation, document: Document, who: Somebody, wanted: Wanted) -> Trial:
    trigger = trigger_data(document, wanted.event, wanted.at)
    return Trial(row.public_id, document, who, wanted.at, trigger, wanted.choices)


def _who(session: Session, workspace_id: int, wanted: Wanted) -> Somebody | Refused:
    if wanted.contact_id is not None:
        found = of_contact(session, workspace_id, wanted.contact_id)
        return missing("contact_not_found") if found is None else found
    made = wanted.invented
    if made is None:
        return invalid("contact_required", "/contact_id")
    return invented(
        session,
        workspace_id,
        made.fields,
        made.properties,
        made.topics,
        opened=made.opened,
        clicked=made.clicked,
    )


def home_of(session: Session, automation_id: str) -> int | None:
    """Return the workspace's row of an automation, for the operator; None when unknown."""
    if not is_public_id(automation_id):
        return None
    return session.scalar(
        select(Automation.workspace_id).where(
            Automation.public_id == automation_id, Automation.deleted_at.is_(None)
        )
    )
