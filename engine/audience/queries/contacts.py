"""Reads of contacts: one, by key, pages by keyset, the search of the header."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Executable, Select, bindparam, func, select, union_all
from sqlalchemy.orm import Session

from engine.audience.addresses import address_key
from engine.audience.models import BUILT_IN, SEARCHED, Contact, ContactPropertyValue
from engine.audience.values import Native, TypedValue
from engine.core.db import (
    Prepared,
    among,
    among_bound,
    begins_with,
    many,
    next_cursor,
    older,
    scope_of,
    table_of,
    within_scope,
)
from engine.core.ids import is_public_id
from engine.core.text import fold, storable

# A person searches with a name and an address, not with a text.
_WORDS: Final = 5
# So many values are looked at for those to pick from.
_LOOKED_AT: Final = 5_000


@dataclass(frozen=True)
class ContactRow:
    """A live contact as pages and the API show it. row_id stays inside; public_id is the `id`."""

    row_id: int
    public_id: str
    email: str | None
    external_id: str | None
    first_name: str | None
    last_name: str | None
    language: str | None
    timezone: str | None
    source: str
    has_opened: bool
    has_clicked: bool
    unsubscribed_at: datetime | None
    created_at: datetime
    updated_at: datetime
    properties: Mapping[str, Native]

    @property
    def name(self) -> str:
        """Return first and last name, or '' where neither is known."""
        return " ".join(part for part in (self.first_name, self.last_name) if part)


def get_contact(session: Session, workspace_id: int, public_id: str) -> ContactRow | None:
    """Return the live contact with this public id, or None."""
    if not is_public_id(public_id):
        return None
    return _one(session, workspace_id, Contact.public_id == public_id)


def contacts_by_row_id(
    session: Session, workspace_id: int, row_ids: Collection[int]
) -> dict[int, ContactRow]:
    """Return live contacts by row id, for rooms that hold rows pointing to them."""
    found = _rows(
        session, _live(workspace_id).where(among(session, Contact.id, row_ids)), workspace_id
    )
    return {contact.row_id: contact for contact in found}


def find_person(session: Session, workspace_id: int, text: str) -> ContactRow | None:
    """Return the one contact that a whole e-mail address, external id or id names, or None."""
    wanted = text.strip()
    if not wanted or not storable(wanted):
        return None
    return (
        find_by_email(session, workspace_id, wanted)
        or _one(session, workspace_id, Contact.external_id == wanted)
        or get_contact(session, workspace_id, wanted)
    )


def find_by_email(session: Session, workspace_id: int, email: str) -> ContactRow | None:
    """Return the live contact with this address in any spelling, or None."""
    return _one(session, workspace_id, Contact.email == address_key(_askable(email)))


def page_contacts(
    session: Session,
    workspace_id: int,
    email: str | None = None,
    q: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[ContactRow], str | None]:
    """Return a page of live contacts, newest first, and the cursor of the next page.

    email: the whole address. q: each of its words begins an address, a name or an external id.
    after: a cursor answered before; one that was never answered counts as none.
    """
    query = _live(workspace_id)
    if email is not None:
        query = query.where(Contact.email == address_key(_askable(email)))
    for word in _askable(q or "").split()[:_WORDS]:
        query = query.where(_begins(session, workspace_id, word))
    query = query.where(older(Contact.id, after)).order_by(Contact.id.desc())
    rows = _rows(session, query.limit(limit + 1), workspace_id)
    return rows[:limit], next_cursor([row.row_id for row in rows], limit)


def addresses(session: Session, row_ids: Collection[int]) -> dict[int, str]:
    """Return the addresses of live contacts by row id, of any workspace; for walkers."""
    asked = {"ids": many(session, row_ids), "scope": scope_of(session)}
    found: dict[int, str] = dict(_ADDRESSES.run(session, **asked).all())
    return found


def _prepare_addresses(dialect: str) -> Executable:
    row = table_of(Contact).c
    return select(row.id, row.email).where(
        among_bound(dialect, row.id),
        within_scope(row.workspace_id),
        row.email.is_not(None),
        row.deleted_at.is_(None),
    )


_ADDRESSES: Final = Prepared(_prepare_addresses)


def _one(session: Session, workspace_id: int, where: ColumnElement[bool]) -> ContactRow | None:
    found = _rows(session, _live(workspace_id).where(where).limit(1), workspace_id)
    return found[0] if found else None


def _live(workspace_id: int) -> Select[*tuple[Any, ...]]:
    return select(
        Contact.id.label("row_id"),
        Contact.public_id,
        Contact.email,
        Contact.external_id,
        Contact.first_name,
        Contact.last_name,
        Contact.language,
        Contact.timezone,
        Contact.source,
        Contact.has_opened,
        Contact.has_clicked,
        Contact.unsubscribed_at,
        Contact.created_at,
        Contact.updated_at,
    ).where(Contact.workspace_id == workspace_id, Contact.deleted_at.is_(None))


def _rows(session: Session, query: Select[*tuple[Any, ...]], workspace_id: int) -> list[ContactRow]:
    rows = session.execute(query).all()
    values = property_values(session, workspace_id, [row.row_id for row in rows])
    return [
        ContactRow(
            **row._mapping,
            properties={
                key: value.native()
                for key, value in values.get(row.row_id, {}).items()
                if key not in BUILT_IN
            },
        )
        for row in rows
    ]


def property_values(
    session: Session,
    workspace_id: int,
    contact_row_ids: Collection[int],
    keys: Collection[str] | None = None,
) -> dict[int, dict[str, TypedValue]]:
    """Return the stored values of contacts by row id and key, built-in fields included.

    keys: only these; None means all.
    """
    found: dict[int, dict[str, TypedValue]] = {}
    if not contact_row_ids or (keys is not None and not keys):
        return found
    row = ContactPropertyValue
    query = select(
        row.contact_id, row.key, row.type, row.text, row.number, row.boolean, row.instant
    ).where(row.workspace_id == workspace_id, among(session, row.contact_id, contact_row_ids))
    if keys is not None:
        query = query.where(row.key.in_(keys))
    for value in session.execute(query.order_by(row.contact_id, row.key)):
        found.setdefault(value.contact_id, {})[value.key] = TypedValue(*value[2:])
    return found


def known_values(session: Session, workspace_id: int, key: str, limit: int) -> list[str]:
    """Return values that people have of a property or built-in field, in order; to pick from.

    Looks at some thousand rows only, so it stays quick and may miss rare ones.
    """
    value = ContactPropertyValue
    some = (
        select(value.text)
        .where(value.workspace_id == workspace_id, value.key == key, value.text != "")
        .limit(_LOOKED_AT)
        .subquery()
    )
    query = select(some.c.text).distinct().order_by(some.c.text).limit(limit)
    return list(session.scalars(query))


def _begins(session: Session, workspace_id: int, word: str) -> ColumnElement[bool]:
    """Return whether an address, a name or the external id begins with `word`.

    The folded values are compared, since SQLite's own lower case knows only ASCII.
    """
    value = ContactPropertyValue
    folded = fold(word)
    named = select(value.contact_id).where(
        value.workspace_id == workspace_id,
        # Spelt out, as the index of names has it.
        value.key.in_(bindparam("names", SEARCHED, expanding=True, literal_execute=True)),
        begins_with(session, value.folded, folded),
    )
    numbered = select(Contact.id).where(
        Contact.workspace_id == workspace_id,
        Contact.external_id.is_not(None),
        begins_with(session, Contact.external_id, word),
    )
    # One list: with an OR of two PostgreSQL would look at every contact.
    return Contact.id.in_(union_all(named, numbered))


def _askable(text: str) -> str:
    """Return `text` without what no database can be asked for."""
    return text.encode(errors="replace").decode().replace("\x00", "")


def without_address(session: Session, workspace_id: int, newest: int) -> int:
    """Return how many of the `newest` contacts of a workspace have no e-mail address."""
    recent = (
        select(Contact.email)
        .where(Contact.workspace_id == workspace_id, Contact.deleted_at.is_(None))
        .order_by(Contact.id.desc())
        .limit(newest)
        .subquery()
    )
    counted = select(func.count()).select_from(recent).where(recent.c.email.is_(None))
    return session.scalar(counted) or 0
