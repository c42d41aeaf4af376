"""Fault points: declared once, armed only under STELLWERK_TESTING, sprung once at the nth pass."""

import ast
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from engine.core import faults
from engine.core.faults import Crash, Trap
from tests.rules.checks.source import CODE, Source, sources


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    """Permit traps, and leave none behind."""
    faults.permit(testing=True, planned=None)
    yield
    faults.permit(testing=False, planned=None)


def placed(files: tuple[Source, ...]) -> Counter[str]:
    """Return how often each name stands in a call of `faults.point`."""
    found: Counter[str] = Counter()
    for file in files:
        for node in file.nodes():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "faults.point":
                found[ast.literal_eval(node.args[0])] += 1
    return found


def test_every_declared_point_stands_in_the_code_and_no_other() -> None:
    assert placed(sources(*CODE)).keys() == set(faults.POINTS)


def test_a_disarmed_point_does_nothing() -> None:
    watch = faults.arm(Trap("walk.ran", 1, faults.CRASH))
    faults.disarm()
    for name in (*faults.POINTS, "never declared"):
        faults.point(name)
    assert not watch.passed


def test_outside_tests_nothing_can_be_armed() -> None:
    faults.permit(testing=False, planned="walk.ran:1:kill")
    faults.point("walk.ran")
    with pytest.raises(RuntimeError, match="STELLWERK_TESTING"):
        faults.arm(Trap("walk.ran", 1, faults.CRASH))


def test_a_trap_springs_once_at_its_pass_and_passes_are_counted() -> None:
    watch = faults.arm(Trap("walk.ran", 2, faults.CRASH))
    faults.point("walk.ran")
    faults.point("walk.settled")
    with pytest.raises(Crash, match=r"walk\.ran"):
        faults.point("walk.ran")
    faults.point("walk.ran")
    assert watch.passed == {"walk.ran": 3, "walk.settled": 1}
    assert watch.sprung == {"walk.ran": 1}


def test_a_point_that_nobody_declared_is_a_bug() -> None:
    faults.arm()
    with pytest.raises(ValueError, match="nowhere"):
        faults.point("nowhere")


@pytest.mark.parametrize(
    "text", ["", "walk.ran", "walk.ran:x:kill", "walk.ran:0:kill", "walk.ran:1:jump", "walk:1:kill"]
)
def test_a_plan_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"point"):
        faults.read_traps(text)


def test_a_plan_is_a_list_of_traps() -> None:
    assert faults.read_traps("walk.ran:1:kill, send.left:20:stop") == (
        Trap("walk.ran", 1, faults.KILL),
        Trap("send.left", 20, faults.STOP),
    )


def test_a_process_is_killed_at_the_place() -> None:
    program = (
        "from engine.core import faults\n"
        "faults.permit(testing=True, planned='walk.ran:1:kill')\n"
        "faults.point('walk.claimed')\n"
        "print('before', flush=True)\n"
        "faults.point('walk.ran')\n"
        "print('behind', flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "before\n")
