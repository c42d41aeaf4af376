"""`stellwerk demo`: loads and removes in words, harmless to repeat."""

from tests.tasks.commands.conftest import Cli


def test_load_and_remove_say_what_they_did(owned: Cli) -> None:
    assert "30 people and 3 automations loaded" in owned("demo", "load")
    assert "already" in owned("demo", "load")
    assert "30 people and 3 automations removed" in owned("demo", "remove")
    assert "0 people and 0 automations removed" in owned("demo", "remove")


def test_without_a_workspace_the_remedy_is_named(cli: Cli) -> None:
    assert "stellwerk setup" in cli.refused("demo", "load")
