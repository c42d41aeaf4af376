"""Comparing two documents: by step and by field, a step carried elsewhere counted once."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.automations import editing
from engine.automations.comparing import (
    ADDED,
    CHANGED,
    MOVED,
    REMOVED,
    FieldChange,
    StepChange,
    compare,
    same,
)
from engine.core.outcome import Refused
from tests.factories import automations as make

BEFORE = make.document(
    make.delay("wait", 5, next=None),
    make.branch("ask", yes="end", no=None, next=None),
    make.delay("last", 1, next=None),
    on_pause="cancel",
    reentry="after_end",
)
ORDERS = st.permutations(["a", "b", "c", "d", "e", "f"])


def ordered(keys: Sequence[str]) -> editing.Edit:
    return make.document(*(make.delay(key, next=None) for key in keys))


def test_a_document_does_not_differ_from_itself() -> None:
    found = compare(BEFORE, BEFORE)
    assert found.same
    assert (found.steps, found.settings, found.trigger_changed) == ((), (), False)


def test_each_field_of_a_step_is_told_old_and_new() -> None:
    config = {**BEFORE["steps"][1]["config"], "yes": "last", "condition": None}
    after = editing.configure(BEFORE, "ask", config, "wait")
    assert not isinstance(after, Refused)
    [change] = compare(BEFORE, after).steps
    assert (change.key, change.what, change.type, change.moved) == (
        "ask",
        CHANGED,
        "condition",
        False,
    )
    assert change.fields == (
        FieldChange("next", None, "wait"),
        FieldChange("config.condition", BEFORE["steps"][1]["config"]["condition"], None),
        FieldChange("config.yes", "end", "last"),
    )


def test_a_value_within_a_rule_is_told_by_its_own_path() -> None:
    config = BEFORE["steps"][1]["config"]
    rule = {**config["condition"], "value": "Grace"}
    after = editing.configure(BEFORE, "ask", {**config, "condition": rule}, None)
    assert not isinstance(after, Refused)
    [change] = compare(BEFORE, after).steps
    assert change.fields == (FieldChange("config.condition.value", "Ada", "Grace"),)


def test_what_was_added_and_removed_stands_where_it_stands_or_stood() -> None:
    gone = editing.delete(BEFORE, "ask")
    assert not isinstance(gone, Refused)
    after = editing.insert(gone, editing.Place("wait"), "topic", "join")
    assert not isinstance(after, Refused)
    steps = compare(BEFORE, after).steps
    told = [(change.key, change.what, change.type) for change in steps if change.what != CHANGED]
    assert told == [("ask", REMOVED, "condition"), ("join", ADDED, "topic")]


def test_a_step_that_changed_and_moved_says_both() -> None:
    moved = editing.move_to(BEFORE, "last", editing.Place(None))
    assert not isinstance(moved, Refused)
    after = editing.configure(moved, "last", {"duration": 9, "unit": "days"}, None)
    assert not isinstance(after, Refused)
    duration = (FieldChange("config.duration", 1, 9),)
    expected = (StepChange("last", CHANGED, "delay", duration, moved=True),)
    assert compare(BEFORE, after).steps == expected


def test_settings_and_trigger_are_told_by_path() -> None:
    after = editing.set_settings(
        BEFORE, name="Later", description="Why", on_pause="hold", reentry={"days": 3}
    )
    assert not isinstance(after, Refused)
    after = editing.set_trigger(after, "event_received", {"event_name": "bought"})
    assert not isinstance(after, Refused)
    found = compare(BEFORE, after)
    assert found.settings == (
        FieldChange("name", "Welcome", "Later"),
        FieldChange("description", None, "Why"),
        FieldChange("on_pause", "cancel", "hold"),
        FieldChange("reentry", "after_end", {"days": 3}),
        FieldChange("trigger.config.event_name", "go", "bought"),
    )
    assert found.trigger_changed
    assert not found.same


@given(ORDERS, ORDERS)
def test_as_few_steps_as_can_be_are_called_moved(old: list[str], new: list[str]) -> None:
    before, after = ordered(old), ordered(new)
    assert not isinstance(before, Refused)
    assert not isinstance(after, Refused)
    moved = [change.key for change in compare(before, after).steps]
    rest = [key for key in old if key not in moved]
    assert rest == [key for key in new if key not in moved]
    longer = itertools.combinations(old, len(rest) + 1)
    places = {key: place for place, key in enumerate(new)}
    assert not any(list(kept) == sorted(kept, key=places.__getitem__) for kept in longer)
    assert {change.what for change in compare(before, after).steps} <= {MOVED}


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.lists(st.sampled_from("abcdef"), unique=True),
)
def test_what_is_added_one_way_is_removed_the_other_way(old: list[str], new: list[str]) -> None:
    before, after = ordered(old), ordered(new)
    assert not isinstance(before, Refused)
    assert not isinstance(after, Refused)
    there, back = compare(before, after).steps, compare(after, before).steps
    assert {c.key for c in there if c.what == ADDED} == {c.key for c in back if c.what == REMOVED}
    assert {c.key for c in there if c.what == REMOVED} == set(old) - set(new)
    assert len({c.key for c in there}) == len(there)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        ({"a": [0]}, {"a": [False]}, False),
        ({"a": [0]}, {"a": [0]}, True),
        ({"a": None}, {}, False),
        ([1, 2], [1], False),
        ("1", 1, False),
        (None, False, False),
    ],
)
def test_true_is_no_number(one: object, other: object, *, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal
