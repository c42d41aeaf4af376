"""Nothing unfinished, nothing of one machine, and every refusal has words at the rim."""

import pytest

from tests.rules.checks import words
from tests.rules.checks.source import Check, breaches, snippet, sources

# The doors of the machine refuse with these for every room (core.machine).
OF_THE_MACHINE = {"illegal_edge", "lost_race"}


@pytest.mark.parametrize("check", ["unfinished", "machine_paths"])
def test_every_text_is_finished_and_belongs_to_no_machine(check: str) -> None:
    assert breaches(getattr(words, check), words.texts()) == []


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (words.unfinished, "x = 1  # TO" + "DO: later"),
        (words.unfinished, "raise NotImplemented" + "Error"),
        (words.machine_paths, "path = '/wo" + "rk/main/var'"),
        (words.machine_paths, "path = '/ho" + "me/ada/stellwerk'"),
    ],
)
def test_a_planted_text_is_found(check: Check, planted: str) -> None:
    assert list(check(snippet(planted)))


def test_every_refusal_of_the_engine_has_words() -> None:
    reasons = set().union(OF_THE_MACHINE, *map(words.refusals, sources("engine")))
    assert sorted(reasons - words.worded(sources("web", "tasks"))) == []


def test_a_refusal_without_words_is_found() -> None:
    engine = snippet(
        "def f():\n"
        "    g(Refused('no_steps'))\n"
        "    g(invalid('bad' if x else 'worse', '/name'))\n"
        "    g(Problem('/steps/0', 'unknown_key'))\n"
        "M = Machine(resource='automation', row=Automation)\n"
    )
    assert words.refusals(engine) == {
        "no_steps", "bad", "worse", "unknown_key", "automation_not_found",
    }  # fmt: skip
    table = snippet("WORDS = {'no_steps': _('Add a step first.')}\n", "web/x/messages.py")
    assert words.worded([table]) == {"no_steps"}
