"""For how many people the fields of a template would be empty, before it is sent to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, case, func, literal, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact, ContactPropertyValue

# The newest contacts are looked at: they resemble those who will get the mail.
NEWEST: Final = 1_000
# A template that reads more fields is judged by the first of them.
_MOST: Final = 30
_COLUMNS: Final = ("email", "external_id", "first_name", "last_name", "language", "timezone")
# Nobody lacks these.
_ALWAYS: Final = frozenset(f"contact.{name}" for name in ("id", "source"))


@dataclass(frozen=True)
class Lack:
    """A field that is empty for `count` of the `of` people looked at."""

    variable: str
    count: int
    of: int


def lacking(
    session: Session, workspace_id: int, variables: Sequence[str], newest: int = NEWEST
) -> list[Lack]:
    """Return which fields are empty for some of the `newest` contacts, the most frequent first.

    variables: paths that a template reads; only `contact.*` and `properties.*` are judged. One
    statement.
    """
    fields = [each for each in variables if _is_field(each)][:_MOST]
    if not fields:
        return []
    people = _people(workspace_id, newest)
    empty = [
        func.sum(case((_filled(people, workspace_id, each), 0), else_=1)).label(f"lack_{index}")
        for index, each in enumerate(fields)
    ]
    row = session.execute(select(func.count(), *empty).select_from(people)).one()
    found = [
        Lack(field, int(count or 0), int(row[0]))
        for field, count in zip(fields, row[1:], strict=True)
    ]
    return sorted((each for each in found if each.count), key=lambda each: -each.count)


def _is_field(path: str) -> bool:
    return path not in _ALWAYS and path.startswith(("contact.", "properties."))


def _people(workspace_id: int, newest: int) -> Any:
    columns = [getattr(Contact, name) for name in _COLUMNS]
    query: Select[Any] = (
        select(Contact.id, *columns)
        .where(Contact.workspace_id == workspace_id, Contact.deleted_at.is_(None))
        .order_by(Contact.id.desc())
        .limit(newest)
    )
    return query.subquery()


def _filled(people: Any, workspace_id: int, path: str) -> ColumnElement[bool]:
    """Return whether somebody has a value at `path`."""
    room, _dot, key = path.partition(".")
    if room == "contact":
        if key not in _COLUMNS:
            return literal(value=False) == literal(value=True)
        return people.c[key].is_not(None) & (people.c[key] != "")  # type: ignore[no-any-return]
    value = ContactPropertyValue
    return (
        select(value.id)
        .where(
            value.workspace_id == workspace_id,
            value.contact_id == people.c.id,
            value.key == key,
            value.text != "",
        )
        .correlate(people)
        .exists()
    )
