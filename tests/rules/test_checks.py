"""Every question that the console has to answer with yes is a test; the noes are few."""

from collections.abc import Mapping
from typing import Any, Final

from tests.rules.checks import cases, console

# A is how pages are laid out, B to D and G to H are numbered; E and F ask about other rooms.
ASKED: Final = (
    "A1", "A2", "A3", "A4",
    *(str(number) for number in (*range(1, 39), *range(39, 42), *range(71, 101))),
    "38a", "38b",
)  # fmt: skip
MOST_NOES: Final = 7


def test_every_check_is_a_test_or_a_reasoned_no() -> None:
    table = console.table()
    assert list(console.faults(table, ASKED)) == []
    assert set(table) == set(ASKED)


def test_the_noes_are_at_most_seven() -> None:
    noes = console.noes(console.table())
    assert 0 < len(noes) <= MOST_NOES, noes


def test_a_planted_fault_is_found() -> None:
    planted: Mapping[str, Mapping[str, Any]] = {
        "1": {"asks": "Is it?"},
        "2": {"asks": "Is it?", "tests": ["tests/web/test_none.py::test_it"]},
        "3": {"asks": "", "no": "Because it is not wanted by anybody."},
        "4": {"asks": "Is it?", "no": "no"},
    }
    found = list(console.faults(planted, ("1", "2", "3", "4", "5")))
    assert found == [
        "1: neither a test nor a written no",
        "2: tests/web/test_none.py::test_it is in no file",
        "3: not said what it asks",
        "4: no is not reasoned",
        "5: not in the table",
    ]


def test_what_a_browser_expects_counts_as_asserted() -> None:
    node = (
        "tests/browser/test_dialogs.py::test_without_script_the_dialog_stands_in_the_page_and_works"
    )
    assert list(cases.node_faults(node)) == []


def test_a_no_for_a_part_counts() -> None:
    assert console.noes({"1": {"no": "x"}, "2": {"elsewhere": "y"}, "3": {"tests": ["z"]}}) == ["1"]
