"""The runner of planted faults: a patch fits exactly once, and what it says fails when it must."""

from pathlib import Path

import pytest

from tests.mutants import __main__ as runner
from tests.mutants.patches import PATCHES, Edit, Patch
from tests.rules.checks.source import ROOT


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.name)
def test_every_patch_fits_the_tree_exactly_once(patch: Patch) -> None:
    assert list(patch.faults(ROOT)) == []
    assert patch.edits
    assert patch.tests


def test_a_patch_whose_text_is_gone_or_stands_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("a = 1\na = 1\n")
    for search, times in (("a = 1\n", 2), ("b = 1\n", 0)):
        patch = Patch("fault", (Edit("code.py", search, ""),), ())
        assert list(patch.faults(tmp_path)) == [
            f"fault: its text stands {times} times in code.py, not once"
        ]
    gone = Patch("fault", (), ("tests/nowhere.py::test_it",))
    assert list(gone.faults(tmp_path)) == ["fault: there is no tests/nowhere.py::test_it"]


def test_a_patch_takes_away_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("a = 1\nb = 2\n")
    Patch("fault", (Edit("code.py", "a = 1\n", "a = 3\n"),), ()).apply(tmp_path)
    assert (tmp_path / "code.py").read_text() == "a = 3\nb = 2\n"


@pytest.mark.parametrize(
    ("untouched", "fault", "said"),
    [
        (0, 1, []),
        (0, 0, ["fault: no test turned red"]),
        (0, 4, ["fault: pytest ended with 4: why"]),
        (1, 1, ["red without any fault: why"]),
        (5, 1, ["(no fault): pytest ended with 5: why"]),
    ],
)
def test_only_red_tests_on_a_green_tree_count(untouched: int, fault: int, said: list[str]) -> None:
    clean = runner.Verdict("(no fault)", untouched, 1.0, "why")
    assert runner.complaints(clean, [runner.Verdict("fault", fault, 1.0, "why")]) == said


def test_the_issue_s_six_faults_are_among_them() -> None:
    assert {
        "lease sweep removed",
        "attempt check removed",
        "settle guard removed",
        "claim without status guard",
        "partial unique index dropped",
        "advance in its own transaction",
    } <= {patch.name for patch in PATCHES}
