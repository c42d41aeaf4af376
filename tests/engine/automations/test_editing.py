"""Any edit of any draft: every branch stays on its step, no document is changed in place."""

import copy
import random
from collections.abc import Mapping
from typing import Final

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.automations import editing
from engine.automations.document import read_document
from engine.automations.editing import Pointer
from engine.automations.graph import END, link
from engine.core.db import JsonObject
from engine.core.outcome import Refused

KINDS: Final = ("email", "delay", "condition", "end", "topic")
SEEDS: Final = st.integers(0, 1_000_000)
EACH: Final = settings(max_examples=400, deadline=None)
Ways = Mapping[tuple[str, str | None], str]


def ways(document: JsonObject) -> Ways:
    """Return where each way of each step leads; None: the way of a step without branches."""
    graph = link(document["steps"])
    keys = [*(step.key for step in graph.steps), END]
    found: dict[tuple[str, str | None], str] = {}
    for step in graph.steps:
        if not step.kind.ends:
            found.update({(step.key, name): keys[to] for name, to in step.exits.items()})
            if not step.exits:
                found[step.key, None] = keys[step.after]
    return found


def drawn(rng: random.Random) -> JsonObject:
    """Return a random draft whose structure is sound."""
    keys = [f"k{n}" for n in range(rng.randint(0, 7))]
    targets = [None, None, END, *keys]
    steps = []
    for key in keys:
        kind = rng.choice(KINDS)
        branches = {"yes": rng.choice(targets), "no": rng.choice(targets)}
        config: JsonObject = branches if kind == "condition" else {}
        steps.append({"key": key, "type": kind, "config": config, "next": rng.choice(targets)})
    document = {
        "name": "Any",
        "on_pause": "cancel",
        "reentry": "after_end",
        "trigger": {"type": "contact_created", "config": {}},
        "steps": steps,
    }
    assume(not isinstance(read_document(document), Refused))
    return document


def picked(rng: random.Random, document: JsonObject) -> str:
    """Return the key of some step."""
    keys = [str(step["key"]) for step in document["steps"]]
    assume(keys)
    return rng.choice(keys)


@EACH
@given(SEEDS)
def test_a_step_is_inserted_into_one_way_alone(seed: int) -> None:
    rng = random.Random(seed)
    document = drawn(rng)
    kept, before = copy.deepcopy(document), ways(document)
    place, kind = rng.choice(editing.places(document)), rng.choice(KINDS)
    edited = editing.insert(document, place, kind, "new")
    assert not isinstance(edited, Refused)
    first = document["steps"][0]["key"] if document["steps"] else END
    led = first if place.after is None else before[place.after, place.exit]
    expected = dict(before)
    if place.after is not None:
        expected[place.after, place.exit] = "new"
    exits = {"condition": ("yes", "no"), "end": ()}.get(kind, (None,))
    expected |= {("new", name): led for name in exits}
    assert ways(edited) == expected
    assert document == kept


@EACH
@given(SEEDS)
def test_who_led_to_a_deleted_step_is_led_on_and_nobody_else(seed: int) -> None:
    rng = random.Random(seed)
    document = drawn(rng)
    kept, before, key = copy.deepcopy(document), ways(document), picked(rng, document)
    others = [END, *(step["key"] for step in document["steps"] if step["key"] != key)]
    relink = {pointer: rng.choice(others) for pointer in editing.pointers(document, key)}
    edited = editing.delete(document, key, relink)
    assert not isinstance(edited, Refused)
    led = next((target for (owner, _name), target in before.items() if owner == key), END)
    for (owner, name), target in ways(edited).items():
        if before[owner, name] != key:
            assert target == before[owner, name]
        elif Pointer(owner, name) in relink or Pointer(owner, None) in relink:
            assert target == relink.get(Pointer(owner, name), relink.get(Pointer(owner, None)))
        elif led != key:
            assert target == led
    assert document == kept


@EACH
@given(SEEDS)
def test_a_targeted_step_is_not_deleted_without_a_word(seed: int) -> None:
    rng = random.Random(seed)
    document = drawn(rng)
    key = picked(rng, document)
    pointing = [each for each in editing.pointers(document, key) if each.step != key]
    edited = editing.delete(document, key)
    assert isinstance(edited, Refused) == bool(pointing)


@EACH
@given(SEEDS)
def test_a_moved_step_takes_along_who_names_it(seed: int) -> None:
    rng = random.Random(seed)
    document = drawn(rng)
    before, key = ways(document), picked(rng, document)
    place = rng.choice(editing.places(document))
    edited = editing.move_to(document, key, place)
    assume(not isinstance(edited, Refused))
    assert not isinstance(edited, Refused)
    chosen, after = (place.after, place.exit), ways(edited)
    if place.after is not None:
        assert after[place.after, place.exit] == key
    for pointer in editing.pointers(document, key):
        way = (pointer.step, pointer.exit)
        if pointer.step != key and way != chosen and way in before:
            assert after[way] == key
    for way, target in after.items():
        if way[0] != key and before[way] != key and way != chosen:
            assert target == before[way]


@EACH
@given(SEEDS)
def test_a_copy_changes_no_way_of_others(seed: int) -> None:
    rng = random.Random(seed)
    document = drawn(rng)
    before, key = ways(document), picked(rng, document)
    edited = editing.duplicate(document, key)
    assert not isinstance(edited, Refused)
    after = ways(edited)
    assert all(after[way] == target for way, target in before.items() if way[0] != key)
    assert len(edited["steps"]) == len(document["steps"]) + 1


@EACH
@given(SEEDS, st.sampled_from([-1, 1]))
def test_up_and_down_change_the_order_alone(seed: int, by: int) -> None:
    rng = random.Random(seed)
    document = drawn(rng)
    key = picked(rng, document)
    edited = editing.move(document, key, by)
    assume(not isinstance(edited, Refused))
    assert not isinstance(edited, Refused)
    steps = {step["key"]: step for step in edited["steps"]}
    assert steps == {step["key"]: step for step in document["steps"]}
    back = editing.move(edited, key, -by)
    assert back == document


@EACH
@given(SEEDS)
def test_trigger_and_settings_change_no_step(seed: int) -> None:
    document = drawn(random.Random(seed))
    kept = copy.deepcopy(document)
    triggered = editing.set_trigger(document, "event_received", {"event_name": "bought"})
    assert not isinstance(triggered, Refused)
    assert triggered == {
        **document,
        "trigger": {"type": "event_received", "config": {"event_name": "bought"}},
    }
    named = editing.set_settings(
        triggered, name="Other", description="Why", on_pause="hold", reentry={"days": 3}
    )
    assert not isinstance(named, Refused)
    assert named["steps"] == document["steps"]
    assert named["description"] == "Why"
    bare = editing.set_settings(
        named, name="Any", description=None, on_pause="cancel", reentry="after_end"
    )
    assert bare == triggered
    assert not isinstance(read_document(bare), Refused)
    assert document == kept
