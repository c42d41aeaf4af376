"""What a change would make of a person, told without writing it: for trying things out.

Judges and plans with the code of the real write, so that both cannot differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from engine.audience.inputs import ContactPatch, ValueChange
from engine.audience.models import BUILT_IN
from engine.audience.service.cleaning import FIELDS, clean_patch
from engine.audience.service.resolving import invalid_contact, plan, property_types
from engine.audience.service.writing import Stored
from engine.audience.values import TypedValue, of_text
from engine.core.outcome import Refused


@dataclass(frozen=True)
class Sketch:
    """A person who need not stand in any row.

    fields: email, external_id, first_name, last_name, language, timezone. values: what conditions
    compare, by key, the built-in fields among them.
    """

    fields: Mapping[str, str | None]
    values: Mapping[str, TypedValue]


@dataclass(frozen=True)
class Foreseen:
    """The person after a change, and what really changed, as `update_contacts` answers it."""

    after: Sketch
    changes: tuple[ValueChange, ...]


def foresee_update(
    session: Session, workspace_id: int, before: Sketch, patch: ContactPatch
) -> Foreseen | Refused:
    """Return what `update_contact` would make of a person; nothing is written or locked.

    Refused: `invalid_contact` with problems. That a key belongs to somebody else is not judged.
    """
    definitions = property_types(session, workspace_id, [patch], keep=False)
    change = clean_patch(patch, definitions)
    if isinstance(change, list):
        return invalid_contact(change)
    fields = {key: before.fields.get(key) for key in FIELDS}
    planned = plan(Stored(0, "", fields, before.values), change)
    built_in = {
        key: None if text is None else of_text(text)
        for key, text in planned.moved.items()
        if key in BUILT_IN
    }
    after = {**before.values, **built_in, **planned.values}
    kept = {key: value for key, value in after.items() if value is not None}
    return Foreseen(Sketch(planned.fields, kept), planned.changes)
