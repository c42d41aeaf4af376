"""`stellwerk demo`: loads and removes in words, harmless to repeat."""

from tests.support.stack import Stack


def test_load_and_remove_say_what_they_did(stack: Stack) -> None:
    stack.setup()
    assert "30 people and 3 automations loaded" in stack.cli("demo", "load")
    assert "already" in stack.cli("demo", "load")
    assert "30 people and 3 automations removed" in stack.cli("demo", "remove")
    assert "0 people and 0 automations removed" in stack.cli("demo", "remove")


def test_without_a_workspace_the_remedy_is_named(stack: Stack) -> None:
    done = stack.try_cli("demo", "load")
    assert done.returncode != 0
    assert "stellwerk setup" in done.stderr
    assert done.stderr.count("\n") == 1
