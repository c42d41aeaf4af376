"""What a workspace defines about its people: custom properties and topics. All of it is audited."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from engine.audience.inputs import PropertyInput, TopicInput
from engine.audience.models import (
    BUILT_IN,
    PROPERTY_TYPES,
    ContactPropertyValue,
    Property,
    Topic,
    TopicMembership,
)
from engine.audience.queries import (
    PropertyRow,
    TopicRow,
    get_property,
    get_topic,
)
from engine.audience.service.cleaning import FIELDS
from engine.core import audit
from engine.core.db import upsert
from engine.core.ids import new_public_id
from engine.core.outcome import Problem, Refused, missing
from engine.core.text import storable

# Templates reach a property as `properties.key`, so a key is a word.
_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_RESERVED: Final = {*BUILT_IN, *FIELDS, "id"}
_NAME: Final = 200
_DESCRIPTION: Final = 5000


def create_property(
    session: Session, workspace_id: int, sent: PropertyInput, actor: audit.Actor, at: datetime
) -> PropertyRow | Refused:
    """Define a custom property. Refused: `invalid_property` with problems, `property_exists`."""
    label = sent.label.strip() or sent.key
    problems = _text_problems("/label", label, _NAME)
    if not _KEY.fullmatch(sent.key):
        problems.append(Problem("/key", "invalid_key"))
    elif sent.key in _RESERVED:
        problems.append(Problem("/key", "reserved_key"))
    if sent.type not in PROPERTY_TYPES:
        problems.append(Problem("/type", "unknown_type"))
    if problems:
        return Refused("invalid_property", "invalid", tuple(problems))
    values = {"key": sent.key, "label": label, "type": sent.type}
    row_id = session.scalar(
        upsert(session, Property)
        .values(workspace_id=workspace_id, public_id=new_public_id(), created_at=at, **values)
        .on_conflict_do_nothing(index_elements=["workspace_id", "key"])
        .returning(Property.public_id)
    )
    if row_id is None:
        return Refused("property_exists", params={"key": sent.key})
    _audit(session, workspace_id, "property", row_id, "created", actor, at, values)
    return _property(session, workspace_id, row_id)


def update_property(
    session: Session,
    workspace_id: int,
    public_id: str,
    label: str,
    actor: audit.Actor,
    at: datetime,
) -> PropertyRow | Refused:
    """Give a property another label; key and type stay, since values and rules are bound to them.

    Refused: `invalid_property` with problems, `property_not_found`.
    """
    problems = _text_problems("/label", label.strip(), _NAME)
    if problems:
        return Refused("invalid_property", "invalid", tuple(problems))
    found = get_property(session, workspace_id, public_id)
    if found is None:
        return missing("property_not_found")
    session.execute(
        update(Property)
        .where(Property.workspace_id == workspace_id, Property.id == found.row_id)
        .values(label=label.strip())
        .execution_options(synchronize_session=False)
    )
    details = {"key": found.key, "label": label.strip()}
    _audit(session, workspace_id, "property", public_id, "updated", actor, at, details)
    return _property(session, workspace_id, public_id)


def delete_property(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete a property with everybody's values of it; fires no contact_updated.

    Refused: `property_not_found`.
    """
    found = get_property(session, workspace_id, public_id)
    if found is None:
        return missing("property_not_found")
    # First of all, so that whoever is writing values of it ends before, and nobody begins after.
    gone = session.execute(
        delete(Property)
        .where(Property.workspace_id == workspace_id, Property.id == found.row_id)
        .returning(Property.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if gone is None:
        return missing("property_not_found")  # somebody else was first
    value = ContactPropertyValue
    session.execute(
        delete(value)
        .where(value.workspace_id == workspace_id, value.key == found.key)
        .execution_options(synchronize_session=False)
    )
    details = {"key": found.key}
    _audit(session, workspace_id, "property", public_id, "deleted", actor, at, details)
    return None


def create_topic(
    session: Session, workspace_id: int, sent: TopicInput, actor: audit.Actor, at: datetime
) -> TopicRow | Refused:
    """Create a topic. Refused: `invalid_topic` with problems."""
    values = _topic_values(sent)
    if isinstance(values, Refused):
        return values
    public_id = new_public_id()
    session.add(Topic(workspace_id=workspace_id, public_id=public_id, created_at=at, **values))
    session.flush()
    details: dict[str, audit.Scalar] = {
        "name": sent.name.strip(),
        "require_double_opt_in": sent.require_double_opt_in,
    }
    _audit(session, workspace_id, "topic", public_id, "created", actor, at, details)
    return _topic(session, workspace_id, public_id)


def update_topic(
    session: Session,
    workspace_id: int,
    public_id: str,
    sent: TopicInput,
    actor: audit.Actor,
    at: datetime,
) -> TopicRow | Refused:
    """Make the topic what `sent` says. Who is a member, pending or not, stays as it is.

    Refused: `invalid_topic` with problems, `topic_not_found`.
    """
    values = _topic_values(sent)
    if isinstance(values, Refused):
        return values
    found = get_topic(session, workspace_id, public_id)
    if found is None:
        return missing("topic_not_found")
    session.execute(
        update(Topic)
        .where(Topic.workspace_id == workspace_id, Topic.id == found.row_id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    details: dict[str, audit.Scalar] = {
        "name": sent.name.strip(),
        "require_double_opt_in": sent.require_double_opt_in,
    }
    _audit(session, workspace_id, "topic", public_id, "updated", actor, at, details)
    return _topic(session, workspace_id, public_id)


def delete_topic(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete a topic with its memberships. Refused: `topic_not_found`."""
    # Held first: who joins or leaves keeps the topic before it touches a membership.
    found = get_topic(session, workspace_id, public_id, hold=True)
    if found is None:
        return missing("topic_not_found")
    member = TopicMembership
    session.execute(
        delete(member)
        .where(member.workspace_id == workspace_id, member.topic_id == found.row_id)
        .execution_options(synchronize_session=False)
    )
    gone = session.execute(
        delete(Topic)
        .where(Topic.workspace_id == workspace_id, Topic.id == found.row_id)
        .returning(Topic.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if gone is None:
        return missing("topic_not_found")  # somebody else was first
    details = {"name": found.name}
    _audit(session, workspace_id, "topic", public_id, "deleted", actor, at, details)
    return None


def _topic_values(sent: TopicInput) -> dict[str, str | bool | None] | Refused:
    name, description = sent.name.strip(), (sent.description or "").strip()
    problems = _text_problems("/name", name, _NAME)
    if description:
        problems += _text_problems("/description", description, _DESCRIPTION)
    if problems:
        return Refused("invalid_topic", "invalid", tuple(problems))
    return {
        "name": name,
        "description": description or None,
        "require_double_opt_in": sent.require_double_opt_in,
    }


def _text_problems(pointer: str, text: str, limit: int) -> list[Problem]:
    if not text:
        return [Problem(pointer, "required")]
    if len(text) > limit:
        return [Problem(pointer, "too_long", {"limit": limit})]
    return [] if storable(text) else [Problem(pointer, "invalid_text")]


def _audit(
    session: Session,
    workspace_id: int,
    resource: str,
    public_id: str,
    what: str,
    actor: audit.Actor,
    at: datetime,
    details: Mapping[str, audit.Scalar],
) -> None:
    subject = audit.Subject(workspace_id, resource, public_id)
    audit.record(session, subject, f"{resource}.{what}", actor, at, details)


def _property(session: Session, workspace_id: int, public_id: str) -> PropertyRow:
    row = get_property(session, workspace_id, public_id)
    if row is None:
        raise LookupError(public_id)
    return row


def _topic(session: Session, workspace_id: int, public_id: str) -> TopicRow:
    row = get_topic(session, workspace_id, public_id)
    if row is None:
        raise LookupError(public_id)
    return row
