"""Structure is judged on save: every fault has a pointer, nothing sound is refused."""

from typing import Any

import pytest

from engine.automations.document import Document, read_document
from engine.core.outcome import Refused
from tests.factories.automations import branch, delay, document, email, end


def problems(raw: object) -> dict[str, str]:
    """Return the codes of a refusal by pointer."""
    read = read_document(raw)
    assert isinstance(read, Refused)
    assert read.kind == "invalid"
    return {problem.pointer: problem.code for problem in read.problems}


def test_a_document_of_every_kind_reads() -> None:
    read = read_document(
        document(email("hello", "t1"), delay("wait"), branch("ask", yes="end"), end("stop"))
    )
    assert isinstance(read, Document)
    assert [step.key for step in read.graph.steps] == ["hello", "wait", "ask", "stop"]
    assert (read.on_pause, read.reentry) == ("cancel", "after_end")


@pytest.mark.parametrize("reentry", ["after_end", "once", {"days": 30}])
@pytest.mark.parametrize("on_pause", ["cancel", "hold"])
def test_every_rule_of_pause_and_reentry_reads(on_pause: str, reentry: object) -> None:
    read = read_document(document(delay("a"), on_pause=on_pause, reentry=reentry))
    assert isinstance(read, Document)
    assert (read.on_pause, read.reentry) == (on_pause, reentry)


@pytest.mark.parametrize(
    ("raw", "pointer", "code"),
    [
        ([], "", "model_type"),
        ({"trigger": {"type": "contact_created"}, "steps": []}, "/name", "missing"),
        (document(name=""), "/name", "string_too_short"),
        (document(name=" \t "), "/name", "string_too_short"),
        (document(name="x" * 201), "/name", "string_too_long"),
        (document(colour="red"), "/colour", "extra_forbidden"),
        (document(steps="many"), "/steps", "list_type"),
        (document(trigger={"type": "full_moon"}), "/trigger/type", "unknown_trigger"),
        (
            document(trigger={"type": "event_received", "config": {"event_name": 7}}),
            "/trigger/config/event_name",
            "string_type",
        ),
        (
            document(trigger={"type": "contact_created", "config": {"x": 1}}),
            "/trigger/config/x",
            "extra_forbidden",
        ),
        (document(delay("a"), delay("a")), "/steps/1/key", "duplicate_key"),
        (document(delay("end")), "/steps/0/key", "reserved_key"),
        (document(delay("")), "/steps/0/key", "invalid_key"),
        (document(delay("a\n")), "/steps/0/key", "invalid_key"),
        (document(delay("a", next="b")), "/steps/0/next", "missing_target"),
        (document(branch("a", yes="b")), "/steps/0/config/yes", "missing_target"),
        (document(delay("a", next="a")), "/steps/0/next", "endless_cycle"),
        (document(delay("a"), delay("b", next="a")), "/steps/0/next", "endless_cycle"),
        (
            document(branch("a", yes="b", no="b"), delay("b", next="a")),
            "/steps/0/next",
            "endless_cycle",
        ),
        (document({"key": "a", "type": "fax", "config": {}}), "/steps/0/type", "unknown_step"),
        (document({"key": "a", "type": "delay"}), "/steps/0/config", "missing"),
        (document(delay("a", duration=0)), "/steps/0/config/duration", "greater_than"),
        (document(delay("a", duration=-3)), "/steps/0/config/duration", "greater_than"),
        (document(delay("a", duration=True)), "/steps/0/config/duration", "float_type"),
        (document(delay("a", unit="moons")), "/steps/0/config/unit", "literal_error"),
        (document(reentry="sometimes"), "/reentry", "literal_error"),
        (document(reentry={"days": 0}), "/reentry/days", "greater_than_equal"),
        (document(on_pause="wait"), "/on_pause", "literal_error"),
    ],
)
def test_a_fault_is_named_by_its_pointer(raw: object, pointer: str, code: str) -> None:
    assert problems(raw)[pointer] == code


def test_ten_thousand_steps_are_refused() -> None:
    steps = [delay(f"s{number}") for number in range(10_000)]
    assert problems(document(*steps)) == {"/steps": "too_long"}


def test_a_condition_that_does_not_read_is_refused_where_it_stands() -> None:
    step = branch("a")
    step["config"]["condition"]["operator"] = "resembles"
    assert list(problems(document(step))) == ["/steps/0/config/condition/operator"]


@pytest.mark.parametrize(
    "steps",
    [
        (branch("a", yes="end", no="b"), delay("b", next="a")),
        (delay("a"), branch("b", yes="a", no="end")),
        (branch("a", yes="a"),),
        (delay("a", next="b"), end("b"), delay("c", next="a")),
    ],
)
def test_a_jump_back_that_a_branch_can_leave_is_legal(steps: tuple[dict[str, Any], ...]) -> None:
    assert isinstance(read_document(document(*steps)), Document)


def test_an_incomplete_draft_is_no_fault() -> None:
    raw = document(
        email("a", None),
        {"key": "b", "type": "delay", "config": {}},
        {"key": "c", "type": "condition", "config": {}},
        trigger={"type": "topic_subscribed"},
    )
    assert isinstance(read_document(raw), Document)
