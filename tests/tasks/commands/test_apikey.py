"""`stellwerk apikey`: create, list, revoke."""

import json
from collections.abc import Iterator

import pytest

from engine.accounts.service import KeyHolder, authenticate_key
from engine.core.db import Database
from engine.core.unit_of_work import UnitOfWork
from tests.factories.accounts import AT
from tests.tasks.commands.conftest import Cli


@pytest.fixture
def uow(owned: Cli) -> Iterator[UnitOfWork]:
    """Return the unit of work on the database of an installation with its owner."""
    database = Database(owned.database)
    yield UnitOfWork(database)
    database.dispose()


def holder(uow: UnitOfWork, key: str) -> KeyHolder | None:
    """Return who the key lets in."""
    with uow.read() as session:
        return authenticate_key(session, key, AT)


def test_a_created_key_is_printed_alone_and_lets_its_holder_in(cli: Cli, uow: UnitOfWork) -> None:
    key = cli("apikey", "create", "--name", "Shop").removesuffix("\n")
    found = holder(uow, key)
    assert found is not None
    assert found.scopes == {"full"}


def test_a_key_may_have_several_scopes(cli: Cli, uow: UnitOfWork) -> None:
    made = json.loads(
        cli(
            "apikey", "create", "--name", "Shop", "--json",
            "--scope", "events:write", "--scope", "contacts:read",
        )
    )  # fmt: skip
    found = holder(uow, made["key"])
    assert found is not None
    assert found.scopes == {"events:write", "contacts:read"}
    assert found.public_id == made["id"]


def test_the_list_shows_the_beginning_of_a_key_and_its_state(cli: Cli, uow: UnitOfWork) -> None:
    key = cli("apikey", "create", "--name", "Shop").strip()
    listed = json.loads(cli("apikey", "list", "--json"))
    assert [(one["name"], one["revoked"]) for one in listed] == [("Shop", False)]
    assert cli("apikey", "revoke", listed[0]["id"]) == "Revoked.\n"
    assert cli("apikey", "revoke", listed[0]["id"]) == "Revoked already.\n"
    assert holder(uow, key) is None
    printed = cli("apikey", "list")
    assert f"{listed[0]['id']}  {key[:8]}…  revoked  last used never  Shop" in printed
    assert key not in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create"], "--name"),
        (["create", "--name", " "], "name is empty"),
        (["create", "--name", "a", "--scope", "paint"], "no scope paint"),
        (["create", "--name", "a", "--workspace", "Beta"], "no such workspace"),
        (["revoke"], "'ID'"),
        (["revoke", "unknown"], "no API key"),
        (["list", "--workspace", "Beta"], "no such workspace"),
    ],
)
def test_a_wrong_call_is_refused_in_one_line(
    cli: Cli, uow: UnitOfWork, arguments: list[str], said: str
) -> None:
    assert said in cli.refused("apikey", *arguments)


def test_the_help_lists_the_scopes_that_calls_ask_for_and_no_others(owned: Cli) -> None:
    said = " ".join(owned("apikey", "create", "--help").split())
    assert "full, approvals:act, approvals:manage, approvals:read, automations:manage," in said
    assert "campaigns" not in said
    assert "There is no scope nonsense" in owned.refused(
        "apikey", "create", "--name", "Shop", "--scope", "nonsense"
    )
