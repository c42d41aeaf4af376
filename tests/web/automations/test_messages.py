"""No code of the engine reaches a page without words."""

import ast
from pathlib import Path

import pytest
from flask import Flask

from engine.automations import run_lifecycle
from engine.core.outcome import Problem, Refused
from engine.delivery.service import check_subject
from tests.rules.checks import words
from tests.rules.checks.source import Source, called, sources
from web.approvals import messages as approvals
from web.automations import messages
from web.automations.simulated import UNFINISHED
from web.people import messages as people
from web.runs import messages as runs
from web.sends import messages as sends

# Problems that pydantic finds bear its own codes; only a program can cause them, and the API has
# the words.
ROOM = Path("engine/automations")


def _codes(source: Source, maker: str) -> set[str]:
    """Return the codes that a file gives to `maker` as first argument."""
    return {
        node.args[0].value
        for node in source.nodes()
        if isinstance(node, ast.Call)
        and called(node) == maker
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }


def _constants(source: Source) -> set[str]:
    """Return the values of constants in capitals whose value is in capitals too."""
    return {
        node.value.value
        for node in source.nodes()
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and isinstance(node.target, ast.Name)
        and node.value.value.isupper()
        and len(node.value.value) > 3
    }


def _of_room(room: str) -> list[Source]:
    return [source for source in sources("engine") if source.path.startswith(f"engine/{room}/")]


def test_every_refusal_of_the_room_has_a_sentence() -> None:
    found = set().union(*(words.refusals(source) for source in _of_room("automations")))
    assert "check_failed" in found
    told = {
        *messages.REASONS, *messages.PROBLEMS, *runs.REASONS, *people.WORDS, *approvals.WORDS,
        # With its number in the singular and the plural, where it is said (web.templates.views).
        "template_in_use",
    }  # fmt: skip
    # A row that is not there is a page that is not there.
    assert {code for code in found - told if not code.endswith("_not_found")} == set()


def test_every_reason_a_run_ends_for_has_a_sentence() -> None:
    assert set(run_lifecycle.ENDED_REASONS) == set(runs.ENDED)


def test_every_code_a_step_fails_with_has_a_sentence() -> None:
    found = set().union(*(_codes(source, "Failed") for source in _of_room("automations")))
    assert "NO_TEMPLATE" in found
    assert found - set(runs.ERRORS) - set(UNFINISHED) == set()


def test_every_code_a_mail_fails_with_has_a_sentence() -> None:
    found = set().union(*(_constants(source) for source in _of_room("delivery")))
    assert "RATE_LIMIT" in found
    assert found - set(sends.ERRORS) == set()


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        (Refused("no_steps"), "Automation must have at least one step to be activated"),
        (Refused("people_inside", params={"count": 3}), "3 people are still inside"),
        (Refused("of_a_later_version"), "of a later version"),
    ],
)
def test_a_refusal_is_a_sentence_with_its_numbers(
    app: Flask, refused: Refused, sentence: str
) -> None:
    with app.test_request_context():
        assert messages.reason(refused).startswith(sentence)


@pytest.mark.parametrize("subject", ["{{ contact.", "{{ contact | nonsense }}", "half \ud800"])
def test_a_subject_that_is_no_template_is_told_with_its_place(app: Flask, subject: str) -> None:
    refused = check_subject(subject, "/steps/0/config/subject_override")
    assert refused is not None
    [fault] = refused.problems
    with app.test_request_context():
        assert messages.problem(fault).startswith("The subject ")


def test_a_fault_without_words_of_its_own_says_what_the_validator_said(app: Flask) -> None:
    fault = Problem("/name", "less_than_equal", {"detail": "at most 200"})
    with app.test_request_context():
        assert messages.problem(fault) == "at most 200"
