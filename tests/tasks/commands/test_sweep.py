"""`stellwerk sweep`: one job in its own process, what it did as JSON, everything else refused."""

import json

import pytest

from tasks.commands.sweep import KNOWN
from tasks.periodic import JOBS
from tests.support.stack import Stack
from tests.tasks.commands.conftest import Cli


def test_a_sweep_says_what_it_did_and_nothing_else(stack: Stack) -> None:
    assert json.loads(stack.cli("sweep", "steps")) == {
        "walked": 0,
        "lapsed": 0,
        "unreadable": 0,
        "hinted": 0,
    }


def test_all_runs_every_sweep_of_the_timetable(cli: Cli) -> None:
    done = json.loads(cli("sweep", "--all"))
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
def test_anything_else_is_refused_in_one_line(cli: Cli, arguments: list[str], word: str) -> None:
    assert word in cli.refused("sweep", *arguments)


def test_a_refusal_lists_what_there_is(cli: Cli) -> None:
    said = cli.refused("sweep", "scans")
    assert all(job.sweep in said for job in JOBS)


def test_the_timetable_runs_only_known_sweeps() -> None:
    assert {job.sweep for job in JOBS} <= set(KNOWN)


def test_the_help_names_every_sweep_there_is(cli: Cli) -> None:
    said = cli("sweep", "--help")
    there = json.loads(cli("sweep", "--all"))
    assert there
    for name in there:
        assert f"\n  {name} " in said
