"""Edits of a draft as pure functions on its document: insert, delete with re-link, move, duplicate.

An exit's target stands in the config under the exit's name, `next` beside it, so nothing here knows
a kind. A target that is null means the next in order; where an edit changes that order, the exits
that meant somebody are pinned to that step, and no branch leaves its step (decision A10).
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.automations.document import MAX_STEPS
from engine.automations.graph import END
from engine.automations.kinds.steps import STEPS
from engine.core.db import JsonObject
from engine.core.outcome import Refused

_LONGEST_KEY: Final = 60


@dataclass(frozen=True)
class Place:
    """Where a step may stand: behind a step by one of its exits; after None: behind the trigger."""

    after: str | None
    exit: str | None = None


@dataclass(frozen=True)
class Pointer:
    """A way that names its target. exit None: the step's `next`."""

    step: str
    exit: str | None


Edit = JsonObject | Refused


def insert(
    document: JsonObject, place: Place, kind: str, key: str, config: JsonObject | None = None
) -> Edit:
    """Return the document with a new step at `place`, which leads to where the place led."""
    step = {"key": key, "type": kind, "config": dict(config or {}), "next": None}
    if len(document["steps"]) >= MAX_STEPS:
        return Refused("too_many_steps")
    return _put(_copied(document), place, step)


def delete(
    document: JsonObject,
    key: str,
    relink: Mapping[Pointer, str | None] | None = None,
    onward: str | None = None,
) -> Edit:
    """Return the document without a step; who fell through to it goes on where it led.

    relink: where each pointer to it leads now; without one for each it is `still_targeted`.
    onward: by which of its exits others go on, where it has several (None: its first).
    """
    edited = _copied(document)
    if _index(edited, key) is None:
        return Refused("step_not_found", "missing")
    wanted = dict(relink or {})
    pointing = [pointer for pointer in pointers(edited, key) if pointer.step != key]
    left = [pointer for pointer in pointing if pointer not in wanted]
    if left:
        return Refused("still_targeted", params={"count": len(left)})
    for pointer in pointing:
        _set(edited, pointer, wanted[pointer])
    _take_out(edited, key, onward)
    return edited


def move(document: JsonObject, key: str, by: int) -> Edit:
    """Return the document with a step one place up (-1) or down (1); ways by name stay as named."""
    edited = _copied(document)
    here = _index(edited, key)
    if here is None:
        return Refused("step_not_found", "missing")
    there = here + by
    if not 0 <= there < len(edited["steps"]):
        return Refused("nothing_to_move")
    steps = edited["steps"]
    steps[here], steps[there] = steps[there], steps[here]
    return edited


def move_to(document: JsonObject, key: str, place: Place, onward: str | None = None) -> Edit:
    """Return the document with a step at another place; who names it follows it there."""
    edited = _copied(document)
    here = _index(edited, key)
    if here is None:
        return Refused("step_not_found", "missing")
    if place.after == key:
        return Refused("nothing_to_move")
    step = edited["steps"][here]
    if place.after is not None and _resolved(edited, place) == key:
        return Refused("nothing_to_move")
    if place.after is None and here == 0:
        return Refused("nothing_to_move")
    _take_out(edited, key, onward)
    return _put(edited, place, {**step, "next": None})


def duplicate(document: JsonObject, key: str) -> Edit:
    """Return the document with a copy right behind a step; the step leads on to its copy."""
    edited = _copied(document)
    here = _index(edited, key)
    if here is None:
        return Refused("step_not_found", "missing")
    if len(edited["steps"]) >= MAX_STEPS:
        return Refused("too_many_steps")
    step = edited["steps"][here]
    twin = {**copy.deepcopy(step), "key": new_key(edited, step["type"])}
    edited["steps"].insert(here + 1, twin)
    step["next"] = None
    return edited


def configure(document: JsonObject, key: str, config: JsonObject, next_: str | None) -> Edit:
    """Return the document with another configuration and successor of one step."""
    edited = _copied(document)
    here = _index(edited, key)
    if here is None:
        return Refused("step_not_found", "missing")
    edited["steps"][here] |= {"config": dict(config), "next": next_}
    return edited


def set_trigger(document: JsonObject, kind: str, config: JsonObject) -> Edit:
    """Return the document with another trigger, or the same with another configuration."""
    return {**_copied(document), "trigger": {"type": kind, "config": copy.deepcopy(config)}}


def set_settings(
    document: JsonObject, *, name: str, description: str | None, on_pause: str, reentry: object
) -> Edit:
    """Return the document with other settings; a description of None is left out, as written."""
    edited = _copied(document)
    edited |= {"name": name, "on_pause": on_pause, "reentry": copy.deepcopy(reentry)}
    edited.pop("description", None)
    return edited if description is None else {**edited, "description": description}


def new_key(document: JsonObject, kind: str) -> str:
    """Return the first free key of the form `<kind>-<number>`."""
    taken = {step["key"] for step in document["steps"]}
    numbers = range(1, len(taken) + 2)
    stem = kind.replace("_", "-")[: _LONGEST_KEY - 5]
    return next(key for number in numbers if (key := f"{stem}-{number}") not in taken)


def pointers(document: JsonObject, key: str) -> Sequence[Pointer]:
    """Return every way that names `key`, in document order."""
    return [
        Pointer(step["key"], way)
        for step in document["steps"]
        for way in (None, *exits(step))
        if _named(step, way) == key
    ]


def places(document: JsonObject) -> Sequence[Place]:
    """Return every place where a step may be inserted, in the order of the plan."""
    found = [Place(None)]
    for step in document["steps"]:
        if not STEPS.get(step["type"]).ends:
            found += [Place(step["key"], name) for name in (*exits(step),)] or [Place(step["key"])]
    return found


def exits(step: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of a step's branches; () for one that has only `next`."""
    kind = STEPS.get(step["type"])
    return tuple(kind.branches(kind.Config.model_validate(step["config"])))


def _copied(document: JsonObject) -> JsonObject:
    return copy.deepcopy(document)


def _index(document: JsonObject, key: str) -> int | None:
    keys = [step["key"] for step in document["steps"]]
    return keys.index(key) if key in keys else None


def _named(step: Mapping[str, Any], exit_: str | None) -> str | None:
    """Return the target that a way names, or None where it means the next in order."""
    target = step["next"] if exit_ is None else step["config"].get(exit_)
    return None if target is None else str(target)


def _set(document: JsonObject, pointer: Pointer, target: str | None) -> None:
    [step] = [each for each in document["steps"] if each["key"] == pointer.step]
    if pointer.exit is None:
        step["next"] = target
    else:
        step["config"][pointer.exit] = target


def _behind(document: JsonObject, index: int) -> str:
    """Return the key of the next step in order, `end` behind the last."""
    steps = document["steps"]
    return str(steps[index + 1]["key"]) if index + 1 < len(steps) else END


def _resolved(document: JsonObject, place: Place) -> str:
    """Return the key that a place leads to."""
    if place.after is None:
        return str(document["steps"][0]["key"]) if document["steps"] else END
    here = _index(document, place.after)
    if here is None:
        raise LookupError(place.after)
    step = document["steps"][here]
    named = _named(step, place.exit)
    if named is None and place.exit is not None:
        named = _named(step, None)
    return named or _behind(document, here)


def _put(document: JsonObject, place: Place, step: JsonObject) -> Edit:
    """Put a step at a place: the place's way leads to it, and it to where that way led."""
    if place.after is None:
        document["steps"].insert(0, step)
        return document
    here = _index(document, place.after)
    if here is None or place not in places(document):
        return Refused("place_not_found", "missing")
    owner = document["steps"][here]
    target = _resolved(document, place)
    _pin_others(document, owner, place)
    _set(document, Pointer(owner["key"], place.exit), None)
    owner["next"] = None
    step["next"] = None if target == _behind(document, here) else target
    document["steps"].insert(here + 1, step)
    return document


def _pin_others(document: JsonObject, owner: JsonObject, place: Place) -> None:
    """Have the other exits of a step name where they lead: the next in order will be another."""
    others = [name for name in exits(owner) if name != place.exit and _named(owner, name) is None]
    led = {name: _resolved(document, Place(owner["key"], name)) for name in others}
    for name, target in led.items():
        _set(document, Pointer(owner["key"], name), target)


def _take_out(document: JsonObject, key: str, onward: str | None) -> None:
    """Take a step out of the order; whoever fell through to it is led to where it led."""
    here = _index(document, key)
    if here is None:
        raise LookupError(key)
    step = document["steps"][here]
    names = exits(step)
    target = _resolved(document, Place(key, onward or (names[0] if names else None)))
    if STEPS.get(step["type"]).ends:
        target = END
    behind = _behind(document, here)
    target = behind if target == key else target
    if here and target != behind:
        before = document["steps"][here - 1]
        if not STEPS.get(before["type"]).ends and before["next"] is None:
            ways = exits(before)
            if not ways or any(_named(before, name) is None for name in ways):
                before["next"] = target
    del document["steps"][here]
