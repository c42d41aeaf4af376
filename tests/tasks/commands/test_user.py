"""`stellwerk user`: add, list, role, password, sessions-revoke."""

import json
from collections.abc import Iterator

import pytest

from engine.accounts.service import Origin, SignedIn, resume_session, sign_in
from engine.core.db import Database
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.accounts import AT
from tests.support.stack import OWNER, PASSWORD
from tests.tasks.commands.conftest import Cli

EDITOR = ("--email", "eve@acme.example", "--role", "editor")


@pytest.fixture
def uow(owned: Cli) -> Iterator[UnitOfWork]:
    """Return the unit of work on the database of an installation with its owner."""
    database = Database(owned.database)
    yield UnitOfWork(database)
    database.dispose()


def enter(uow: UnitOfWork, email: str, password: str) -> str | None:
    """Sign in and return the token."""
    with uow.begin() as session:
        done = sign_in(session, email, password, Origin(), AT)
    return done.token if isinstance(done, SignedIn) else None


def test_an_added_person_may_sign_in(cli: Cli, uow: UnitOfWork) -> None:
    said = cli("user", "add", *EDITOR, "--password-stdin", stdin="p^V&X@:/?#\n")
    assert said == "Added eve@acme.example to Acme as editor.\n"
    assert enter(uow, "eve@acme.example", "p^V&X@:/?#")
    people = json.loads(cli("user", "list", "--json"))
    assert [(one["email"], one["role"]) for one in people] == [
        ("eve@acme.example", "editor"), (OWNER, "owner")
    ]  # fmt: skip
    assert all(one["id"] in cli("user", "list") for one in people)


def test_an_account_joins_a_second_workspace_without_a_password(cli: Cli, uow: UnitOfWork) -> None:
    with uow.begin() as session:
        accounts.user(session, accounts.workspace(session, "Beta").id, email="eve@acme.example")
    cli("user", "add", *EDITOR, "--workspace", "Acme")
    assert "eve@acme.example" in cli("user", "list", "--workspace", "Acme")


def test_a_new_password_ends_the_sessions(cli: Cli, uow: UnitOfWork) -> None:
    token = enter(uow, OWNER, PASSWORD)
    said = cli("user", "password", "--email", OWNER, "--password-stdin", stdin="new one here\n")
    assert said == "Password changed; 1 sessions ended.\n"
    assert enter(uow, OWNER, PASSWORD) is None
    assert enter(uow, OWNER, "new one here")
    with uow.read() as session:
        assert resume_session(session, str(token), AT) is None


def test_sessions_end_at_once(cli: Cli, uow: UnitOfWork) -> None:
    tokens = [enter(uow, OWNER, PASSWORD) for _ in range(2)]
    assert cli("user", "sessions-revoke", "--email", OWNER) == "2 sessions ended.\n"
    with uow.read() as session:
        assert [resume_session(session, str(token), AT) for token in tokens] == [None, None]


def test_a_role_changes_and_may_be_set_again(cli: Cli, uow: UnitOfWork) -> None:
    cli("user", "add", *EDITOR, "--password-stdin", stdin=f"{PASSWORD}\n")
    asked = ("user", "role", "--email", "eve@acme.example", "--role", "support")
    assert cli(*asked) == "eve@acme.example is support of Acme.\n"
    assert cli(*asked) == "eve@acme.example is support of Acme already.\n"


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["add", *EDITOR], "", "--password-stdin"),
        (["add", *EDITOR, "--password-stdin"], "short\n", "at least 8 characters"),
        (
            ["add", "--email", "eve", "--role", "editor", "--password-stdin"],
            f"{PASSWORD}\n",
            "no e-mail address",
        ),
        (["add", "--email", OWNER, "--role", "editor"], "", "member already"),
        (["add", "--email", OWNER, "--role", "queen"], "", "'owner', 'admin', 'editor', 'support'"),
        (
            ["add", *EDITOR, "--password-stdin", "--workspace", "Beta"],
            f"{PASSWORD}\n",
            "no such workspace",
        ),
        (["role", "--email", OWNER, "--role", "admin"], "", "only owner"),
        (["role", "--email", "no@acme.example", "--role", "admin"], "", "no account"),
        (["password", "--email", OWNER], "", "--password-stdin"),
        (["password", "--email", OWNER, "--password-stdin"], "\n", "password is empty"),
        (
            ["password", "--email", "no@acme.example", "--password-stdin"],
            "a password\n",
            "no account",
        ),
        (["sessions-revoke", "--email", "no@acme.example"], "", "no account"),
        (["list", "--workspace", "Beta"], "", "no such workspace"),
    ],
)
def test_a_wrong_call_is_refused_in_one_line(
    cli: Cli, uow: UnitOfWork, arguments: list[str], stdin: str, said: str
) -> None:
    assert said in cli.refused("user", *arguments, stdin=stdin)


def test_with_several_workspaces_one_must_be_named(cli: Cli, uow: UnitOfWork) -> None:
    with uow.begin() as session:
        other = accounts.workspace(session, "Acme").public_id
    assert f"Acme ({other})" in cli.refused("user", "list")
    assert f"Acme ({other})" in cli.refused("user", "list", "--workspace", "Acme")
    assert cli("user", "list", "--workspace", other) == ""


def test_on_an_empty_installation_the_remedy_is_set_up(cli: Cli) -> None:
    assert "`stellwerk setup`" in cli.refused("user", "list")
