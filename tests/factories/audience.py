"""People, properties and topics for tests, made through audience's own verbs."""

import itertools
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.audience import service
from engine.audience.inputs import (
    API,
    MERGE,
    ContactInput,
    PropertyInput,
    SavedContact,
    TopicInput,
)
from engine.audience.models import MANUAL
from engine.audience.queries import ContactRow, PropertyRow, SuppressionRow, TopicRow
from engine.core.audit import Actor
from engine.core.outcome import Refused
from tests.factories.accounts import AT

ACTOR: Final = Actor("user:tester")
_NUMBERS: Final = itertools.count(1)


def contact(
    session: Session,
    workspace_id: int,
    email: str | None = None,
    properties: Mapping[str, object] | None = None,
    **fields: Any,
) -> ContactRow:
    """Return a new contact; without an address it gets one of its own."""
    if email is None and "external_id" not in fields:
        email = f"person{next(_NUMBERS)}@people.example"
    sent = ContactInput(email=email, properties=properties or {}, **fields)
    return saved(service.save_contact(session, workspace_id, sent, MERGE, API, AT)).contact


def suppression(
    session: Session, workspace_id: int, email: str | None = None, reason: str = MANUAL
) -> SuppressionRow:
    """Return a fresh entry of the suppression list; without an address it gets one of its own."""
    email = email or f"gone{next(_NUMBERS)}@people.example"
    row = service.suppress(session, workspace_id, email, API, ACTOR, AT, reason)
    assert isinstance(row, SuppressionRow), row
    return row


def saved(answer: SavedContact | Refused) -> SavedContact:
    """Return the answer of a save that was not refused."""
    assert isinstance(answer, SavedContact), answer
    return answer


def custom_property(
    session: Session, workspace_id: int, key: str, kind: str = "text"
) -> PropertyRow:
    """Return a new custom property."""
    sent = PropertyInput(key, kind)
    row = service.create_property(session, workspace_id, sent, ACTOR, AT)
    assert isinstance(row, PropertyRow), row
    return row


def topic(
    session: Session,
    workspace_id: int,
    name: str = "News",
    *,
    require_double_opt_in: bool = False,
) -> TopicRow:
    """Return a new topic; an open one unless asked for double opt-in."""
    sent = TopicInput(name, require_double_opt_in=require_double_opt_in)
    row = service.create_topic(session, workspace_id, sent, ACTOR, AT)
    assert isinstance(row, TopicRow), row
    return row
