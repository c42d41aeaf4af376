"""`stellwerk sweep`: one job in its own process, what it did as JSON, everything else refused."""

import json

import pytest

from tasks.commands.sweep import KNOWN
from tasks.periodic import JOBS
from tests.support.stack import Stack


def test_a_sweep_says_what_it_did(stack: Stack) -> None:
    assert json.loads(stack.cli("sweep", "steps")) == {"walked": 0, "lapsed": 0}


def test_all_runs_every_sweep_of_the_timetable(stack: Stack) -> None:
    done = json.loads(stack.cli("sweep", "--all"))
    assert {job.sweep for job in JOBS} <= set(done)
    assert all(isinstance(count, int) for did in done.values() for count in did.values())


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["agent-stuck"], "not built yet"),
        (["nonsense"], "no sweep"),
        ([], "--all"),
        (["steps", "--all"], "--all"),
    ],
)
def test_anything_else_is_refused_in_one_line(
    stack: Stack, arguments: list[str], word: str
) -> None:
    done = stack.try_cli("sweep", *arguments)
    assert done.returncode != 0
    assert done.stdout == ""
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_refusal_lists_what_there_is(stack: Stack) -> None:
    assert "retention, sends, steps" in stack.try_cli("sweep", "scans").stderr


def test_the_timetable_runs_only_known_sweeps() -> None:
    assert {job.sweep for job in JOBS} <= set(KNOWN)
