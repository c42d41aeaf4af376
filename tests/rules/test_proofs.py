"""No test that cannot fail, no test that sleeps."""

import pytest

from tests.rules.checks import proofs
from tests.rules.checks.source import Check, breaches, snippet, sources


@pytest.mark.parametrize("check", ["fixed_waits", "without_assertion"])
def test_every_test_can_fail_and_waits_for_a_condition(check: str) -> None:
    assert breaches(getattr(proofs, check), sources("tests")) == []


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (proofs.fixed_waits, "import time\ntime.sleep(1)\n"),
        (proofs.fixed_waits, "page.wait_for_timeout(50)\n"),
        (proofs.without_assertion, "def test_it() -> None:\n    run()\n"),
        (proofs.without_assertion, "def helper():\n    run()\ndef test_it():\n    helper()\n"),
    ],
)
def test_a_planted_breach_is_found(check: Check, planted: str) -> None:
    assert list(check(snippet(planted, "tests/engine/test_x.py")))


@pytest.mark.parametrize(
    "proper",
    [
        "def test_it() -> None:\n    assert run() == 1\n",
        "def test_it() -> None:\n    with pytest.raises(ValueError):\n        run()\n",
        "def same(a) -> None:\n    assert a\ndef test_it() -> None:\n    same(1)\n",
    ],
)
def test_a_proper_test_passes(proper: str) -> None:
    assert list(proofs.without_assertion(snippet(proper, "tests/engine/test_x.py"))) == []
