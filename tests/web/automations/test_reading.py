"""What steps are called on a plan: alike ones are told apart where a way leads to one of them."""

from typing import Any

from flask import Flask

from engine.automations.document import Document, read_document
from tests.factories import automations as making
from web.automations.reading import Told


def _titles(app: Flask, *steps: dict[str, Any]) -> list[str]:
    document = read_document(making.document(*steps))
    assert isinstance(document, Document)
    with app.test_request_context():
        return list(Told(document, {}, {}).titles.values())


def test_two_ends_of_a_branch_bear_their_numbers(app: Flask) -> None:
    fork = making.branch("fork", yes="good", no="bad")
    assert _titles(app, fork, making.end("good"), making.end("bad")) == [
        "first_name is “Ada”?",
        "Ends here (2)",
        "Ends here (3)",
    ]


def test_a_jump_to_one_of_two_equal_waits_names_which(app: Flask) -> None:
    jump = making.delay("long", 3, next="second")
    assert _titles(app, jump, making.delay("first"), making.delay("second")) == [
        "Wait 3 days",
        "Wait 1 day (2)",
        "Wait 1 day (3)",
    ]


def test_equal_steps_in_a_straight_line_stay_as_they_are(app: Flask) -> None:
    assert _titles(app, making.delay("one"), making.delay("two")) == ["Wait 1 day", "Wait 1 day"]
