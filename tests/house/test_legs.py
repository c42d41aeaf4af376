"""The runner of the legs fails for every reason it should, and for no other."""

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from tests.legs import LegResult, complaints
from tests.support.leg_plugin import asks_for_leg
from tests.support.programs import LEFT_OUT

GOOD = LegResult(
    name="sqlite",
    exit_code=0,
    collected=frozenset({"tests/a.py::test_a", "tests/only_sqlite/b.py::test_b"}),
    elsewhere=frozenset(),
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


def test_what_the_other_leg_ran_may_be_left_to_it() -> None:
    left = replace(OTHER, elsewhere=frozenset({"tests/a.py::test_a"}))
    assert complaints([GOOD, left], strict=True) == []


def test_a_test_that_no_leg_ran_is_a_complaint() -> None:
    left = [replace(leg, elsewhere=frozenset({"tests/a.py::test_a"})) for leg in (GOOD, OTHER)]
    assert complaints(left, strict=False) == ["no leg ran tests/a.py::test_a"] * 2
    assert complaints(left[:1], strict=False) == ["no leg ran tests/a.py::test_a"]


def test_nobody_reaches_a_database_who_would_run_on_one_leg_alone(
    request: pytest.FixtureRequest,
) -> None:
    with pytest.raises(RuntimeError, match="without asking for it"):
        request.getfixturevalue("database_url")


def test_who_asks_for_a_session_runs_on_both_legs(
    request: pytest.FixtureRequest, session: Session
) -> None:
    assert asks_for_leg(request.node)
