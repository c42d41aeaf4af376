"""What the benchmark makes of its lines: ratios within a round, verdicts, the table in a file."""

from pathlib import Path
from typing import Any

import pytest

from tests.bench import table
from tests.bench.goals import GOALS, Goal, Results
from tests.rules.checks.source import ROOT


def speed(number: int, name: str, steps_per_s: float) -> dict[str, Any]:
    """Return a line of one engine in one round."""
    return {"test": "walker", "round": number, "name": name, "steps_per_s": steps_per_s}


def single(test: str, db: str, **figures: float) -> dict[str, Any]:
    """Return a line that stands outside the rounds."""
    return {"test": test, "db": db, **figures}


def test_a_ratio_is_the_median_of_the_ratios_within_each_round() -> None:
    slow, fast = (100.0, 50.0), (4_000.0, 2_000.0)
    results = Results(
        [
            speed(1, "product", 1_000), speed(1, "peer 1", slow[0]), speed(1, "peer 2", slow[1]),
            speed(2, "product", 8_000), speed(2, "peer 1", fast[1]), speed(2, "peer 2", fast[0]),
            speed(3, "product", 3_000), speed(3, "peer 1", 1_000), speed(3, "peer 2", 999),
        ]
    )  # fmt: skip
    assert results.ratio("product", ("peer 1", "peer 2")) == 3.0
    assert results.median("product") == 3_000


def test_what_was_not_measured_has_no_figure_and_is_not_missed() -> None:
    results = Results([speed(1, "product pg set 1", 9_000)])
    assert results.ratio("product pg set 1", ("raw pg",)) is None
    assert {goal.verdict(goal.measured(results)) for goal in GOALS} == {"not measured"}


def test_growth_compares_the_most_rows_with_the_fewest() -> None:
    lines = [
        single("growing", "pg", rows=rows, claim_ms=claim, sweep_ms=1.0)
        for rows, claim in ((1_000_000, 9.0), (10_000, 6.0))
    ]
    results = Results(lines)
    assert results.growth("claim_ms", "pg") == 1.5
    assert results.growth("claim_ms", "sqlite") is None
    assert Results(lines[:1]).growth("claim_ms", "pg") is None


@pytest.mark.parametrize(
    ("value", "at_most", "verdict"),
    [
        (9.9, False, "**missed**"),
        (10.0, False, "gate met"),
        (25.0, False, "target met"),
        (10.1, True, "**missed**"),
        (10.0, True, "gate met"),
        (None, True, "not measured"),
    ],
)
def test_a_goal_says_whether_its_gate_and_its_target_are_met(
    value: float | None, at_most: bool, verdict: str
) -> None:
    target = 5.0 if at_most else 25.0
    goal = Goal("1", "a goal", "x", 10.0, target, lambda _results: None, at_most)
    assert goal.verdict(value) == verdict


def test_the_table_replaces_what_stands_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    table.write(page, "new")
    table.write(page, "newer")
    assert page.read_text() == f"before\n{table.BEGIN}\nnewer\n{table.END}\nafter\n"


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    with pytest.raises(ValueError, match="has no"):
        table.write(page, "new")
    assert page.read_text() == "nothing here\n"


def test_the_readme_has_a_place_for_the_table() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count(table.BEGIN) == text.count(table.END) == 1
    assert text.index(table.BEGIN) < text.index(table.END)
