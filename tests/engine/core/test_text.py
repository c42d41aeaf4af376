"""Numbers as ECMAScript reads them, and folding."""

import math

import pytest

from engine.core import text

NUMBERS = [
    ("", 0),
    (" 7 ", 7),
    ("\u00a07\ufeff", 7),
    ("0x10", 16),
    ("0b11", 3),
    ("0o17", 15),
    ("1e3", 1000),
    ("-.5", -0.5),
    ("+3.", 3),
    ("007", 7),
    ("Infinity", math.inf),
    ("-Infinity", -math.inf),
]


@pytest.mark.parametrize(("spelled", "number"), NUMBERS)
def test_a_number_is_read(spelled: str, number: float) -> None:
    assert text.read_number(spelled) == number


@pytest.mark.parametrize(
    "spelled",
    ["abc", "1_000", "nan", "inf", "infinity", "-0x10", "1,5", "1e", ".", "٣", "+-Infinity", "1 2"],
)
def test_no_number_is_no_number(spelled: str) -> None:
    assert text.read_number(spelled) is None


def test_folding_is_lower_case_and_trims_nothing() -> None:
    assert text.fold(" ÄÖß ") == " äöß "
    assert text.normalise_email("  Ada@X.Example ") == "ada@x.example"
