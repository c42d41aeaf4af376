"""The runner of the legs fails for every reason it should, and for no other."""

from dataclasses import replace

from tests.legs import LegResult, complaints
from tests.support.programs import LEFT_OUT

GOOD = LegResult(
    name="sqlite",
    exit_code=0,
    collected=frozenset({"tests/a.py::test_a", "tests/only_sqlite/b.py::test_b"}),
    passed=2,
    skipped={},
    left_out=[],
    summary="2 passed in 1.00s",
)
OTHER = replace(
    GOOD,
    name="postgres",
    collected=frozenset({"tests/a.py::test_a", "tests/only_postgres/c.py::test_c"}),
)


def test_equal_legs_pass_though_each_has_tests_of_its_own() -> None:
    assert complaints([GOOD, OTHER], strict=True) == []


def test_a_failed_leg_is_a_complaint() -> None:
    assert complaints([GOOD, replace(OTHER, exit_code=1)], strict=False) == [
        "leg postgres: pytest ended with 1"
    ]


def test_a_leg_that_collected_nothing_is_a_complaint() -> None:
    empty = replace(GOOD, collected=frozenset())
    assert complaints([empty], strict=False) == ["leg sqlite: collected nothing"]


def test_a_test_that_only_one_leg_knows_is_a_complaint() -> None:
    more = replace(OTHER, collected=OTHER.collected | {"tests/a.py::test_new"})
    assert complaints([GOOD, more], strict=False) == [
        "only the leg postgres collected tests/a.py::test_new"
    ]


def test_a_program_left_out_is_forgiven_unless_everything_is_required() -> None:
    left = replace(GOOD, skipped={"tests/a.py::test_a": f"Skipped: {LEFT_OUT}Chromium"})
    assert complaints([left], strict=False) == []
    assert complaints([left], strict=True) == [
        f"leg sqlite: skipped tests/a.py::test_a (Skipped: {LEFT_OUT}Chromium)"
    ]


def test_any_other_skip_is_never_forgiven() -> None:
    lazy = replace(GOOD, skipped={"tests/a.py::test_a": "Skipped: not today"})
    assert complaints([lazy], strict=False) == [
        "leg sqlite: skipped tests/a.py::test_a (Skipped: not today)"
    ]
