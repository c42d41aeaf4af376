"""Keys become places; a null target is the next in order, and only null (T-A3)."""

import pytest

from engine.automations.graph import link
from tests.factories.automations import branch, delay, end


def test_targets_are_resolved_by_key() -> None:
    graph = link(
        [delay("a", next="c"), branch("b", yes="a", no=None), branch("c", yes="end", no="b")]
    )
    assert graph.following(0, None) == 2
    assert graph.following(1, "yes") == 0
    assert graph.following(1, "no") == 2
    assert graph.following(2, "yes") == 3
    assert graph.following(2, "no") == 1


def test_a_null_exit_takes_the_step_s_own_next() -> None:
    graph = link([branch("a", yes="b", next="c"), delay("b"), delay("c")])
    assert graph.following(0, "no") == 2


def test_an_end_step_leads_nowhere() -> None:
    graph = link([end("a"), delay("b")])
    assert graph.following(0, None) == 2


@pytest.mark.parametrize(
    ("target", "passed"), [(1, []), (3, ["b", "c"]), (4, ["b", "c", "d"]), (0, [])]
)
def test_a_forward_jump_passes_the_steps_between(target: int, passed: list[str]) -> None:
    graph = link([branch("a"), delay("b"), delay("c"), delay("d")])
    assert [step.key for step in graph.skipped(0, target)] == passed
