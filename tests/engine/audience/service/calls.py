"""Short calls of the verbs on contacts, and what they have left behind."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import service
from engine.audience.inputs import (
    API,
    MERGE,
    ContactInput,
    ContactPatch,
    Mode,
    SavedContact,
)
from engine.audience.models import Contact
from engine.core.events import Event
from engine.core.outcome import Refused
from tests.factories.accounts import AT

EMAIL = "ada@people.example"


def save(
    session: Session, workspace: int, mode: Mode = MERGE, **fields: Any
) -> SavedContact | Refused:
    return service.save_contact(session, workspace, ContactInput(**fields), mode, API, AT)


def update(
    session: Session,
    workspace: int,
    public_id: str,
    properties: dict[str, object] | None = None,
    **fields: str | None,
) -> SavedContact | Refused:
    patch = ContactPatch(fields, properties or {})
    return service.update_contact(session, workspace, public_id, patch, API, AT)


def recorded(session: Session, workspace: int) -> list[tuple[str, dict[str, Any]]]:
    rows = session.execute(
        select(Event.kind, Event.data).where(Event.workspace_id == workspace).order_by(Event.id)
    )
    return [(row.kind, row.data) for row in rows]


def number_of_contacts(session: Session, workspace: int) -> int:
    ids = session.scalars(select(Contact.id).where(Contact.workspace_id == workspace))
    return len(ids.all())
