"""Change the person: built-in fields and custom properties (decision A13), or note when.

The change is written where the step is settled, under the person's lock (`applying`).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.inputs import ContactPatch
from engine.audience.models import INSTANT, Property
from engine.audience.values import LONGEST
from engine.automations.kinds.steps.base import Completed, Outcome, StepConfig, StepKind, Visit
from engine.core import clock
from engine.core.outcome import Problem, below
from engine.core.text import storable

FIELDS: Final = ("first_name", "last_name", "language", "timezone")
# What a person is found by, or what says where the person came from, is no step's to change.
_FIXED: Final = frozenset({"id", "email", "external_id", "source"})
_MOST: Final = 50
_SHOWN: Final = 60


class UpdateContactConfig(StepConfig):
    """changes: the new value by key, a built-in field or a custom property; null clears. stamps:
    keys of instant properties that get the instant at which the step is executed."""

    changes: dict[str, Any] = Field(default_factory=dict)
    stamps: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list)


class UpdateContactStep(StepKind[UpdateContactConfig, datetime]):
    """The step that changes the person."""

    Config = UpdateContactConfig

    def structure(self, config: UpdateContactConfig, pointer: str) -> list[Problem]:
        """Refuse too many changes, a key that no step may change, a value that is no primitive."""
        where = f"{pointer}/config/changes"
        if len(config.changes) + len(config.stamps) > _MOST:
            return [Problem(where, "too_many_changes", {"limit": _MOST})]
        found = []
        for key, value in config.changes.items():
            code = _fault(key, value)
            if code is not None:
                found.append(Problem(below(where, key), code, {"key": key[:_SHOWN]}))
        return [*found, *_misplaced(config, f"{pointer}/config/stamps")]

    def problems(
        self, session: Session, workspace_id: int, configs: Mapping[str, UpdateContactConfig]
    ) -> list[Problem]:
        """Refuse a step without changes, an unknown property, a value that does not fit it."""
        found = [
            Problem(f"{pointer}/config/changes", "changes_missing")
            for pointer, config in configs.items()
            if not config.changes and not config.stamps
        ]
        patches = {pointer: _patch(config, None) for pointer, config in configs.items()}
        for pointer, faults in audience.judge_patches(session, workspace_id, patches).items():
            found += [_finding(pointer, configs[pointer], fault) for fault in faults]
        return [*found, *_unstampable(session, workspace_id, configs)]

    def load(
        self,
        session: Session,  # noqa: ARG002 - a contract
        visits: Sequence[Visit[UpdateContactConfig]],
    ) -> Mapping[int, datetime | None]:
        """Read the clock once for all; who is stamped together bears one instant."""
        at = clock.now()
        return {visit.id: at for visit in visits}

    def run(
        self,
        visits: Sequence[Visit[UpdateContactConfig]],
        facts: Mapping[int, datetime | None],
    ) -> Mapping[int, Outcome]:
        """Ask for the change; one patch for all people of a step."""
        asked = {
            id(visit.config): Completed(patch=_patch(visit.config, facts[visit.id]))
            for visit in visits
        }
        return {visit.id: asked[id(visit.config)] for visit in visits}


def _patch(config: UpdateContactConfig, at: datetime | None) -> ContactPatch:
    """Return what the step asks for. at: the instant of the stamps, None for none of them."""
    stamp = None if at is None else at.astimezone(UTC).isoformat(timespec="milliseconds")
    stamps = {} if stamp is None else dict.fromkeys(config.stamps, stamp)
    # Sorted, since not every database keeps the order in which an object was written.
    changes = sorted({**config.changes, **stamps}.items())
    fields = {key: value for key, value in changes if key in FIELDS}
    properties = {key: value for key, value in changes if key not in FIELDS}
    return ContactPatch(fields, properties)


def _fault(key: str, value: object) -> str | None:
    if key in _FIXED:
        return "fixed_key"
    if value is not None and not isinstance(value, str | int | float):
        return "not_a_primitive"
    if key in FIELDS and value is not None and not isinstance(value, str):
        return "not_a_text"
    if not storable(key) or (isinstance(value, str) and not storable(value)):
        return "bad_character"
    return "value_too_long" if isinstance(value, str) and len(value) > LONGEST else None


def _misplaced(config: UpdateContactConfig, where: str) -> Iterator[Problem]:
    """Yield the stamps that no property can bear, and those that are also given a value."""
    for place, key in enumerate(config.stamps):
        named = {"key": key[:_SHOWN]}
        if key in FIELDS or key in _FIXED:
            yield Problem(f"{where}/{place}", "no_stamp", named)
        elif not storable(key):
            yield Problem(f"{where}/{place}", "bad_character", named)
        elif key in config.changes:
            yield Problem(f"{where}/{place}", "set_twice", named)


def _unstampable(
    session: Session, workspace_id: int, configs: Mapping[str, UpdateContactConfig]
) -> list[Problem]:
    """Return the stamps whose property is gone or holds no instants; one statement for all."""
    wanted = sorted({key for config in configs.values() for key in config.stamps})
    if not wanted:
        return []
    asked = select(Property.key, Property.type).where(
        Property.workspace_id == workspace_id, Property.key.in_(wanted)
    )
    types = {row.key: row.type for row in session.execute(asked)}
    return [
        Problem(
            f"{pointer}/config/stamps/{place}",
            "no_date_property" if key in types else "property_not_found",
            {"name": key[:_SHOWN]},
        )
        for pointer, config in configs.items()
        for place, key in enumerate(config.stamps)
        if types.get(key) != INSTANT
    ]


def _finding(pointer: str, config: UpdateContactConfig, fault: Problem) -> Problem:
    """Return what audience finds wrong with one value, at the place where the step has it."""
    # The patch has a key below /properties or as a field; here both stand in `changes`.
    tail = fault.pointer.removeprefix("/properties")
    where = f"{pointer}/config/changes{tail}"
    key = tail[1:].replace("~1", "/").replace("~0", "~")
    if fault.code == "unknown_property":
        return Problem(where, "property_not_found", {"name": key[:_SHOWN]})
    value = str(config.changes.get(key))[:_SHOWN]
    return Problem(where, "value_does_not_fit", {"key": key[:_SHOWN], "value": value})
