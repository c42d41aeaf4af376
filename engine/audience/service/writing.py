"""Writes contacts and their values, set-wise: the statements behind every save.

A found contact is locked until the transaction ends, so that what counts as changed is compared
with what is really replaced. Owns no rule about what may be written.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Executable,
    String,
    bindparam,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from engine.audience.inputs import ValueChange
from engine.audience.models import Contact
from engine.audience.queries import property_values
from engine.audience.service import marks, value_rows
from engine.audience.service.cleaning import FIELDS, Change
from engine.audience.values import TypedValue
from engine.core.db import (
    Columns,
    Id,
    Instant,
    Prepared,
    among,
    among_bound,
    dialect_of,
    many,
    packed,
    rows_table,
    table_of,
    upsert,
)
from engine.core.ids import new_public_ids

KEYS: Final = ("email", "external_id")
_NEW_FIELDS: Final[Columns] = {"row_id": Id, **{f"new_{field}": String() for field in FIELDS}}
# A NULL is written as such: one statement for all rows, not one for every set of filled columns.
_ONE_SHAPE: Final = {"render_nulls": True}


@dataclass(frozen=True)
class Stored:
    """A live contact as it stands, locked. values: of the properties that a change names."""

    id: int
    public_id: str
    fields: Mapping[str, str | None]
    values: Mapping[str, TypedValue]


@dataclass(frozen=True)
class Rewrite:
    """What a contact will be: all its fields, and the values to put (None: to remove)."""

    stored: Stored
    fields: Mapping[str, str | None]
    values: Mapping[str, TypedValue | None]
    changed: tuple[str, ...]

    @cached_property
    def moved(self) -> Mapping[str, str | None]:
        """Return the fields that change."""
        before = self.stored.fields
        if self.fields is before:
            return {}
        return {key: text for key, text in self.fields.items() if text != before[key]}

    @property
    def moves_key(self) -> bool:
        """Return whether an identity key changes, which another contact may hold by now."""
        return any(key in self.moved for key in KEYS)

    @property
    def changes(self) -> tuple[ValueChange, ...]:
        """Return what changes of the watched keys, before and after."""
        return tuple(self._change(key) for key in self.changed)

    def _change(self, key: str) -> ValueChange:
        if key in self.fields:
            return ValueChange(key, self.stored.fields[key], self.fields[key])
        before, after = self.stored.values.get(key), self.values[key]
        return ValueChange(
            key,
            None if before is None else before.native(),
            None if after is None else after.native(),
        )

    @property
    def idle(self) -> bool:
        """Return whether nothing at all would change."""
        return not self.changed and not self.moves_key


def by_keys(session: Session, workspace_id: int, changes: Sequence[Change]) -> list[Stored]:
    """Return the live contacts that any of the changes names by e-mail or external id, locked."""
    emails = {change.email for change in changes if change.email is not None}
    external = {change.external_id for change in changes if change.external_id is not None}
    named = or_(Contact.email.in_(emails), Contact.external_id.in_(external))
    return _locked(session, workspace_id, named, changes)


def by_row_ids(
    session: Session, workspace_id: int, changes: Mapping[int, Change]
) -> Sequence[Stored]:
    """Return the live contacts among these rows, locked; changes: what is asked of each."""
    if not changes:
        return []
    asked = {"of_workspace": workspace_id, "ids": many(session, changes)}
    found = _LOCKED.run(session, **asked).all()
    return _stored(session, workspace_id, found, changes.values())


def by_public_id(
    session: Session, workspace_id: int, public_id: str, change: Change
) -> Stored | None:
    """Return the live contact with this public id, locked, or None; `change`: what is asked."""
    found = _locked(session, workspace_id, Contact.public_id == public_id, [change])
    return found[0] if found else None


def _locked(
    session: Session,
    workspace_id: int,
    which: ColumnElement[bool],
    changes: Collection[Change],
) -> list[Stored]:
    """Lock and read; of the values only those that a change names, for nothing else is compared."""
    rows = session.execute(
        select(Contact.id, Contact.public_id, *(getattr(Contact, field) for field in FIELDS))
        .where(Contact.workspace_id == workspace_id, Contact.deleted_at.is_(None), which)
        .order_by(Contact.id)  # one order for all who lock, so that none waits in a circle
        .with_for_update(key_share=True)
    ).all()
    return _stored(session, workspace_id, rows, changes)


def _prepare_locked(dialect: str) -> Executable:
    row = table_of(Contact).c
    return (
        select(row.id, row.public_id, *(row[field] for field in FIELDS))
        .where(
            row.workspace_id == bindparam("of_workspace", type_=Id),
            row.deleted_at.is_(None),
            among_bound(dialect, row.id),
        )
        .order_by(row.id)
        .with_for_update(key_share=True)
    )


_LOCKED: Final = Prepared(_prepare_locked)


def _stored(
    session: Session, workspace_id: int, rows: Sequence[Any], changes: Collection[Change]
) -> list[Stored]:
    keys = {key for change in changes for key in change.values}
    values = property_values(session, workspace_id, [row.id for row in rows], keys)
    return [
        Stored(
            row.id,
            row.public_id,
            dict(zip(FIELDS, row[2:], strict=True)),
            values.get(row.id, {}),
        )
        for row in rows
    ]


def insert_contacts(
    session: Session, workspace_id: int, changes: Sequence[Change], source: str, at: datetime
) -> list[int | None]:
    """Insert a contact per change and return their row ids in order.

    None where an identity key was taken in the meantime: nothing was written then. Who has an
    address that opted out before has opted out.
    """
    emails = {email for change in changes if (email := change.fields.get("email")) is not None}
    since = marks.opted_out(session, workspace_id, emails)
    rows = [
        {
            "workspace_id": workspace_id,
            "public_id": public_id,
            **{field: change.fields.get(field) for field in FIELDS},
            "source": source,
            "has_opened": False,
            "has_clicked": False,
            "unsubscribed_at": since.get(change.fields.get("email") or ""),
            "created_at": at,
            "updated_at": at,
        }
        for public_id, change in zip(new_public_ids(len(changes)), changes, strict=True)
    ]
    # Sorted, so that two batches that meet wait for each other in one order.
    ordered = sorted(rows, key=lambda row: (str(row["email"] or ""), str(row["external_id"] or "")))
    landed = session.execute(
        upsert(session, Contact).on_conflict_do_nothing().returning(Contact.public_id, Contact.id),
        ordered,
        execution_options=_ONE_SHAPE,
    ).all()
    ids: dict[str, int] = dict(landed)
    put = {
        ids[str(row["public_id"])]: value_rows.of_new(change.fields, source, change.values)
        for row, change in zip(rows, changes, strict=True)
        if row["public_id"] in ids
    }
    value_rows.write_values(session, workspace_id, put, at)
    return [ids.get(str(row["public_id"])) for row in rows]


def rewrite_contacts(
    session: Session, workspace_id: int, rewrites: Sequence[Rewrite], at: datetime
) -> set[int]:
    """Write the rewrites and return the row ids of those whose new key was taken: not written."""
    taken = set()
    for rewrite in rewrites:
        if rewrite.moves_key:
            try:
                with session.begin_nested():
                    _update(session, workspace_id, [rewrite], at)
            except IntegrityError:
                taken.add(rewrite.stored.id)
    _update(session, workspace_id, [each for each in rewrites if not each.moves_key], at)
    written = [each for each in rewrites if each.stored.id not in taken]
    moved = {each.stored.id: email for each in written if (email := each.moved.get("email"))}
    marks.take_over(session, workspace_id, moved)
    put = {
        rewrite.stored.id: {**value_rows.built_in(rewrite.moved, None), **rewrite.values}
        for rewrite in written
    }
    value_rows.write_values(session, workspace_id, put, at)
    return taken


def _update(session: Session, workspace_id: int, rewrites: Sequence[Rewrite], at: datetime) -> None:
    """Update the fields of those whose fields change, and of the others when they were changed."""
    same = [each.stored.id for each in rewrites if not each.moved]
    rows = [
        {"row_id": each.stored.id} | {f"new_{field}": text for field, text in each.fields.items()}
        for each in rewrites
        if each.moved
    ]
    if same:
        touch(session, workspace_id, same, at)
    if not rows:
        return
    same_for_all = {"of_workspace": workspace_id, "at": at}
    if dialect_of(session) == "sqlite":
        # Row by row: of a joined batch SQLite would read the whole workspace once for each of them.
        _CHANGE.run_many(session, [row | same_for_all for row in rows])
    else:
        _CHANGE.run(session, rows=packed(session, rows), **same_for_all)


def _prepare_change(dialect: str) -> Executable:
    table = table_of(Contact)
    new: Any = rows_table(dialect, _NEW_FIELDS).c
    if dialect == "sqlite":
        new = {name: bindparam(name, type_=kind) for name, kind in _NEW_FIELDS.items()}
    values = {field: new[f"new_{field}"] for field in FIELDS}
    return (
        update(table)
        .where(
            table.c.workspace_id == bindparam("of_workspace", type_=Id),
            table.c.id == new["row_id"],
        )
        .values({**values, "updated_at": bindparam("at", type_=Instant())})
    )


_CHANGE: Final = Prepared(_prepare_change)


def touch(session: Session, workspace_id: int, row_ids: Collection[int], at: datetime) -> None:
    """Note when these contacts were changed."""
    session.execute(
        update(Contact)
        .where(Contact.workspace_id == workspace_id, among(session, Contact.id, row_ids))
        .values(updated_at=at)
        .execution_options(synchronize_session=False)
    )
