"""Conditions: from a document to one SQL predicate over Contact, and who fulfils it and why.

Owns reading, compiling and evaluating; what a kind means stands in `kinds`. A segment, an audience
count and a condition step use the same predicate (architecture 5).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact, Property, Topic
from engine.core.db import among
from engine.core.outcome import Problem, below
from engine.rules.kinds import CONDITIONS, Description
from engine.rules.kinds.base import Config

_CODES: Final = {"extra_forbidden": "unknown_key", "missing": "required"}
# So many people are counted; a page says "more than" beyond.
MOST_COUNTED: Final = 100_000
# The families a condition may name.
TOPIC: Final = "topic"
PROPERTY: Final = "property"
_SOURCES: Final[Mapping[str, Any]] = {TOPIC: Topic.public_id, PROPERTY: Property.key}


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition that has been read: the name of its kind and the kind's Config.

    Two are equal where their documents are: to Python 1 and True are the same value, to a condition
    they are not.
    """

    kind: str
    config: Config

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self._spelt == other._spelt

    def __hash__(self) -> int:
        return hash(self._spelt)

    @property
    def _spelt(self) -> tuple[str, str]:
        return self.kind, self.config.model_dump_json()


@dataclass(frozen=True)
class Evaluation:
    """What a condition said of one contact. found: the value that decided, as text, or None."""

    matched: bool
    found: str | None


@dataclass(frozen=True)
class Count:
    """How many people fulfil a condition, of how many; capped, of_capped: there are more."""

    number: int
    of: int
    capped: bool
    of_capped: bool


@dataclass(frozen=True)
class MissingReference:
    """Something a condition names that does not exist here.

    index: which of the conditions asked about. family: `topic` or `property`. name: its public id
    or key.
    """

    index: int
    family: str
    name: str


def read_condition(raw: object, pointer: str) -> Condition | list[Problem]:
    """Return the condition that a document holds, or everything that is wrong with it.

    raw: parsed JSON. pointer: JSON pointer of `raw` in the document. Codes: not_an_object,
    required, unknown_kind, unknown_key, wrong_value.
    """
    if not isinstance(raw, dict):
        return [Problem(pointer, "not_an_object")]
    kind = raw.get("kind")
    if kind is None:
        return [Problem(f"{pointer}/kind", "required")]
    if not isinstance(kind, str) or kind not in CONDITIONS:
        return [Problem(f"{pointer}/kind", "unknown_kind", {"kind": str(kind)[:60]})]
    asked = {key: value for key, value in raw.items() if key != "kind"}
    try:
        config = CONDITIONS.get(kind).Config.model_validate(asked)
    except ValidationError as error:
        return _problems(error, pointer)
    return Condition(kind, config)


def to_document(condition: Condition) -> dict[str, Any]:
    """Return the condition as the document that `read_condition` takes."""
    return {"kind": condition.kind, **condition.config.model_dump(mode="json", exclude_none=True)}


def predicate(condition: Condition, workspace_id: int) -> ColumnElement[bool]:
    """Return the condition as a predicate over Contact, for a query that selects from it.

    Never NULL. It restricts neither the workspace of the contact nor deleted ones: the query does.
    """
    return CONDITIONS.get(condition.kind).predicate(condition.config, workspace_id)


def evaluate(
    session: Session, workspace_id: int, condition: Condition, contact_ids: Collection[int]
) -> Mapping[int, Evaluation]:
    """Return what the condition says of each contact, in one statement.

    contact_ids: row ids. A contact that is not in the answer is deleted or not of this workspace.
    """
    if not contact_ids:
        return {}
    kind = CONDITIONS.get(condition.kind)
    rows = session.execute(
        select(
            Contact.id,
            kind.predicate(condition.config, workspace_id).label("matched"),
            kind.found(condition.config, workspace_id).label("found"),
        ).where(
            Contact.workspace_id == workspace_id,
            Contact.deleted_at.is_(None),
            among(session, Contact.id, contact_ids),
        )
    )
    return {row.id: Evaluation(bool(row.matched), row.found) for row in rows}


def count(
    session: Session, workspace_id: int, condition: Condition, most: int = MOST_COUNTED
) -> Count:
    """Return how many people fulfil the condition now, and of how many; counts up to `most`."""
    here = (Contact.workspace_id == workspace_id, Contact.deleted_at.is_(None))
    kind = CONDITIONS.get(condition.kind)
    matching = kind.predicate(condition.config, workspace_id)
    number = _counted(session, [*here, matching], most)
    of = _counted(session, here, most)
    return Count(min(number, most), min(of, most), number > most, of > most)


def _counted(session: Session, where: Sequence[ColumnElement[bool]], most: int) -> int:
    rows = select(Contact.id).where(*where).limit(most + 1).subquery()
    return session.scalar(select(func.count()).select_from(rows)) or 0


def describe(condition: Condition) -> Description:
    """Return field, operator and value for the page to put into words."""
    return CONDITIONS.get(condition.kind).describe(condition.config)


def missing_references(
    session: Session, workspace_id: int, conditions: Sequence[Condition]
) -> list[MissingReference]:
    """Return what the conditions name and the workspace does not have, in at most two statements.

    A missing topic is an error of a check (decision A12); a missing property reads as a missing
    value, which is worth a warning.
    """
    named = [
        MissingReference(index, reference.family, reference.name)
        for index, condition in enumerate(conditions)
        for reference in CONDITIONS.get(condition.kind).references(condition.config)
    ]
    known = {
        family: _known(session, workspace_id, family, [each.name for each in named])
        for family in {each.family for each in named}
    }
    return [each for each in named if each.name not in known[each.family]]


def _known(session: Session, workspace_id: int, family: str, names: list[str]) -> set[str]:
    column = _SOURCES[family]
    row = column.class_
    return set(
        session.scalars(select(column).where(row.workspace_id == workspace_id, column.in_(names)))
    )


def _problems(error: ValidationError, pointer: str) -> list[Problem]:
    """Return one problem per key: a value that fits no type of a union is one fault, not four."""
    found: dict[str, Problem] = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        key = str(fault["loc"][0]) if fault["loc"] else ""
        place = below(pointer, key) if key else pointer
        found.setdefault(place, Problem(place, _CODES.get(fault["type"], "wrong_value")))
    return list(found.values())
