"""`stellwerk demo`: loads and removes in words, harmless to repeat."""

from tests.support.stack import OWNER, PASSWORD
from tests.tasks.commands.conftest import Cli


def test_load_and_remove_say_what_they_did(owned: Cli) -> None:
    assert "30 people and 3 automations loaded" in owned("demo", "load")
    assert "already" in owned("demo", "load")
    assert "30 people and 3 automations removed" in owned("demo", "remove")
    assert "0 people and 0 automations removed" in owned("demo", "remove")


def test_beside_a_second_workspace_it_is_removed_where_it_lies(owned: Cli) -> None:
    assert "30 people" in owned("demo", "load")
    second = ("setup", "--email", OWNER, "--password-stdin", "--workspace", "Globex")
    owned(*second, stdin=f"{PASSWORD}\n")
    assert owned("demo", "remove") == "Acme: 30 people and 3 automations removed.\n"
    assert owned("demo", "remove") == "There is no sample content in any workspace.\n"
    assert "Globex: 0 people" in owned("demo", "remove", "--workspace", "Globex")


def test_without_a_workspace_the_remedy_is_named(cli: Cli) -> None:
    assert "stellwerk setup" in cli.refused("demo", "load")
