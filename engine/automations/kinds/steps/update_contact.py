"""Change the person: built-in fields and custom properties (decision A13).

The change is written where the step is settled, under the person's lock (`applying`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import Field
from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.inputs import ContactPatch
from engine.audience.values import LONGEST
from engine.automations.kinds.steps.base import Completed, Outcome, StepConfig, StepKind, Visit
from engine.core.outcome import Problem, below
from engine.core.text import storable

FIELDS: Final = ("first_name", "last_name", "language", "timezone")
# What a person is found by, or what says where the person came from, is no step's to change.
_FIXED: Final = frozenset({"id", "email", "external_id", "source"})
_MOST: Final = 50
_SHOWN: Final = 60


class UpdateContactConfig(StepConfig):
    """changes: the new value by key, a built-in field or a custom property; null clears."""

    changes: dict[str, Any] = Field(default_factory=dict)


class UpdateContactStep(StepKind[UpdateContactConfig, None]):
    """The step that changes the person."""

    Config = UpdateContactConfig

    def structure(self, config: UpdateContactConfig, pointer: str) -> list[Problem]:
        """Refuse too many changes, a key that no step may change, a value that is no primitive."""
        where = f"{pointer}/config/changes"
        if len(config.changes) > _MOST:
            return [Problem(where, "too_many_changes", {"limit": _MOST})]
        found = []
        for key, value in config.changes.items():
            code = _fault(key, value)
            if code is not None:
                found.append(Problem(below(where, key), code, {"key": key[:_SHOWN]}))
        return found

    def problems(
        self, session: Session, workspace_id: int, configs: Mapping[str, UpdateContactConfig]
    ) -> list[Problem]:
        """Refuse a step without changes, an unknown property, a value that does not fit it."""
        found = [
            Problem(f"{pointer}/config/changes", "changes_missing")
            for pointer, config in configs.items()
            if not config.changes
        ]
        patches = {pointer: _patch(config) for pointer, config in configs.items()}
        for pointer, faults in audience.judge_patches(session, workspace_id, patches).items():
            found += [_finding(pointer, configs[pointer], fault) for fault in faults]
        return found

    def run(
        self,
        visits: Sequence[Visit[UpdateContactConfig]],
        facts: Mapping[int, None],  # noqa: ARG002 - a contract
    ) -> Mapping[int, Outcome]:
        """Ask for the change; one patch for all people of a step."""
        asked = {id(visit.config): Completed(patch=_patch(visit.config)) for visit in visits}
        return {visit.id: asked[id(visit.config)] for visit in visits}


def _patch(config: UpdateContactConfig) -> ContactPatch:
    # Sorted, since not every database keeps the order in which an object was written.
    changes = sorted(config.changes.items())
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
