"""`stellwerk demo`: loads and removes in words, harmless to repeat."""

from collections.abc import Callable

from click.testing import Result

from tests.support.stack import OWNER, PASSWORD

Run = Callable[..., Result]


def test_load_and_remove_say_what_they_did(run: Run) -> None:
    made = run("setup", "--email", OWNER, "--password-stdin", stdin=f"{PASSWORD}\n")
    assert made.exit_code == 0
    assert "30 people and 3 automations loaded" in run("demo", "load").stdout
    assert "already" in run("demo", "load").stdout
    assert "30 people and 3 automations removed" in run("demo", "remove").stdout
    assert "0 people and 0 automations removed" in run("demo", "remove").stdout


def test_without_a_workspace_the_remedy_is_named(run: Run) -> None:
    done = run("demo", "load")
    assert done.exit_code != 0
    assert "stellwerk setup" in done.stderr
    assert done.stderr.count("\n") == 1
