"""A condition asked of a person who stands in no row: the same predicate, over rows made up for it.

The statement's own tables are shadowed by CTEs of their names, so nothing is written and there is
no second implementation of what a condition means (architecture 5).
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import CTE, Boolean, Float, String, Text, cast, literal, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact, Topic
from engine.audience.values import TypedValue
from engine.core.db import Columns, Id, Instant, among, batch_table
from engine.rules.kinds import CONDITIONS
from engine.rules.service import Condition, Evaluation

# No row has it.
_NOBODY: Final = -1
_CONTACT: Final[Columns] = {
    "id": Id,
    "workspace_id": Id,
    "has_opened": Boolean(),
    "has_clicked": Boolean(),
    "deleted_at": Instant(),
}
_VALUE: Final[Columns] = {
    "id": Id,
    "workspace_id": Id,
    "contact_id": Id,
    "key": String(),
    "text": Text(),
    "folded": Text(),
    "number": Text(),
    "boolean": Boolean(),
    "instant": Instant(),
}


@dataclass(frozen=True)
class Person:
    """What conditions may ask of somebody. values: by key, built-in fields included.

    topics: public ids; opened, clicked: whether ever.
    """

    values: Mapping[str, TypedValue] = field(default_factory=dict)
    topics: Collection[str] = ()
    opened: bool = False
    clicked: bool = False


def evaluate(
    session: Session, workspace_id: int, condition: Condition, person: Person
) -> Evaluation:
    """Return what the condition says of `person`, in one statement that reads no contact."""
    kind = CONDITIONS.get(condition.kind)
    shadows = (
        _contacts(session, workspace_id, person),
        _values(session, workspace_id, person),
        _memberships(session, workspace_id, person),
    )
    found = session.execute(
        select(
            kind.predicate(condition.config, workspace_id).label("matched"),
            kind.found(condition.config, workspace_id).label("found"),
        )
        .select_from(Contact)
        .where(Contact.id == _NOBODY, Contact.workspace_id == workspace_id)
        .add_cte(*shadows)
    ).one()
    return Evaluation(bool(found.matched), found.found)


def _contacts(session: Session, workspace_id: int, person: Person) -> CTE:
    row = {
        "id": _NOBODY,
        "workspace_id": workspace_id,
        "has_opened": person.opened,
        "has_clicked": person.clicked,
    }
    return select(batch_table(session, _CONTACT, [row])).cte("contacts")


def _values(session: Session, workspace_id: int, person: Person) -> CTE:
    rows = [
        {
            "id": _NOBODY,
            "workspace_id": workspace_id,
            "contact_id": _NOBODY,
            "key": key,
            "text": value.text,
            "folded": value.folded,
            "number": _spelt(session, value.number),
            "boolean": value.boolean,
            "instant": value.instant,
        }
        for key, value in person.values.items()
    ]
    batch = batch_table(session, _VALUE, rows)
    columns = {**batch.c, "number": cast(batch.c.number, Float()).label("number")}
    return select(*columns.values()).cte("contact_property_values")


def _spelt(session: Session, number: float | None) -> str | None:
    """Return a number as text that the database reads back; JSON knows no Infinity."""
    if number is None or math.isfinite(number):
        return None if number is None else repr(number)
    beyond = "9e999" if session.get_bind().dialect.name == "sqlite" else "Infinity"
    return beyond if number > 0 else f"-{beyond}"


def _memberships(session: Session, workspace_id: int, person: Person) -> CTE:
    nobody: Any = literal(_NOBODY, Id)
    rows = select(
        nobody.label("id"),
        Topic.workspace_id,
        nobody.label("contact_id"),
        Topic.id.label("topic_id"),
    ).where(
        Topic.workspace_id == workspace_id, among(session, Topic.public_id, list(person.topics))
    )
    return rows.cte("topic_memberships")
