"""What differs between two documents, by step and by field. Pure; knows no kind."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.core.db import JsonObject

ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"
MOVED: Final = "moved"
_SETTINGS: Final = ("name", "description", "on_pause", "reentry", "trigger")
_PLAIN: Final = ("type", "next")


@dataclass(frozen=True)
class FieldChange:
    """One value that differs. path: within its step or document, as "config.duration"."""

    path: str
    before: object
    after: object


@dataclass(frozen=True)
class StepChange:
    """What became of one step. what: added, removed, changed or moved.

    type: of the step as it stands now, or stood. fields: what differs, of a changed one, which may
    have moved as well.
    """

    key: str
    what: str
    type: str
    fields: tuple[FieldChange, ...] = ()
    moved: bool = False


@dataclass(frozen=True)
class Comparison:
    """All that differs. steps: in the new order, removed ones where they stood."""

    steps: tuple[StepChange, ...]
    settings: tuple[FieldChange, ...]
    trigger_changed: bool

    @property
    def same(self) -> bool:
        """Return whether nothing differs."""
        return not (self.steps or self.settings or self.trigger_changed)


def compare(before: JsonObject, after: JsonObject) -> Comparison:
    """Return what `after` has otherwise than `before`, both documents of an automation.

    A step is moved where it stands off the longest order that both have in common, so that one
    step carried down is one change and not one for each step it passed.
    """
    old = {step["key"]: step for step in before["steps"]}
    new = {step["key"]: step for step in after["steps"]}
    settled = _settled(list(old), list(new))
    changes = [
        change
        for key in _merged(list(old), list(new))
        if (change := _step_change(old.get(key), new.get(key), moved=key not in settled))
    ]
    settings = [
        change for name in _SETTINGS for change in _fields(before.get(name), after.get(name), name)
    ]
    trigger_changed = not same(before.get("trigger"), after.get("trigger"))
    return Comparison(tuple(changes), tuple(settings), trigger_changed)


def same(one: object, other: object) -> bool:
    """Return whether two JSON values are equal; true is not 1, though to Python it is."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _step_change(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, *, moved: bool
) -> StepChange | None:
    if before is None or after is None:
        step = after or before or {}
        return StepChange(step["key"], REMOVED if after is None else ADDED, step["type"])
    fields = [
        change
        for name in (*_PLAIN, "config")
        for change in _fields(before.get(name), after.get(name), name)
    ]
    if fields:
        return StepChange(after["key"], CHANGED, after["type"], tuple(fields), moved)
    return StepChange(after["key"], MOVED, after["type"], (), moved=True) if moved else None


def _fields(before: object, after: object, path: str) -> Sequence[FieldChange]:
    """Return the values that differ below `path`; a list is one value."""
    if same(before, after):
        return ()
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return (FieldChange(path, before, after),)
    names = [*before, *(name for name in after if name not in before)]
    return [
        change
        for name in sorted(names)
        for change in _fields(before.get(name), after.get(name), f"{path}.{name}")
    ]


def _merged(old: Sequence[str], new: Sequence[str]) -> Sequence[str]:
    """Return all keys: the new order, with each removed one behind what it stood behind."""
    merged, kept = list(new), set(new)
    for index, key in enumerate(old):
        if key not in kept:
            merged.insert(merged.index(old[index - 1]) + 1 if index else 0, key)
    return merged


def _settled(old: Sequence[str], new: Sequence[str]) -> frozenset[str]:
    """Return the keys of a longest order that both have in common."""
    places = {key: place for place, key in enumerate(new)}
    shared = [key for key in old if key in places]
    # Patience: ends[n] is the smallest place at which an order of n + 1 keys can end.
    ends: list[int] = []
    last: list[str] = []
    before: dict[str, str | None] = {}
    for key in shared:
        length = bisect_left(ends, places[key])
        before[key] = last[length - 1] if length else None
        ends[length : length + 1] = [places[key]]
        last[length : length + 1] = [key]
    found: set[str] = set()
    here = last[-1] if last else None
    while here is not None:
        found.add(here)
        here = before[here]
    return frozenset(found)
