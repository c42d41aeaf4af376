"""`stellwerk setup`: what it makes, that it may be repeated, what it refuses."""

import json
from typing import Final

import pytest
from sqlalchemy import func, make_url, select, text
from sqlalchemy.orm import Session

from engine.accounts.models import User, Workspace
from engine.accounts.service import Origin, SetUp, SetUpDone, SignedIn, authenticate_key, sign_in
from engine.core.audit import AuditEntry
from engine.core.db import Base, Database
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import Sender, SendingDomain
from tasks.commands.setup import compose
from tests.factories.accounts import AT
from tests.support.stack import OWNER, PASSWORD, Stack
from tests.tasks.commands.conftest import Cli

ASKED: Final = SetUp("ada@acme.example", PASSWORD, "Acme", "a key of 24 characters or more")
ARGUMENTS: Final = (
    "setup", "--email", OWNER, "--password-stdin", "--workspace", "Acme",
    "--api-key", str(ASKED.api_key), "--json",
)  # fmt: skip
# What a new workspace holds; every other table is empty.
MADE: Final = {
    "workspaces": 1, "users": 1, "memberships": 1, "api_keys": 1, "senders": 1,
    "sending_domains": 1, "audit_log": 5,
}  # fmt: skip


def filled(session: Session) -> dict[str, int]:
    """Return the number of rows of every table that has any."""
    session.flush()
    counts = {
        name: session.scalar(select(func.count()).select_from(table)) or 0
        for name, table in Base.metadata.tables.items()
    }
    return {name: count for name, count in counts.items() if count}


def done(session: Session, asked: SetUp = ASKED) -> SetUpDone:
    """Compose and expect success."""
    result = compose(session, asked)
    assert isinstance(result, SetUpDone)
    return result


def test_a_new_workspace_holds_its_owner_key_and_default_sender_alone(session: Session) -> None:
    made = done(session)
    assert filled(session) == MADE
    sender = session.scalars(select(Sender)).one()
    domain = session.scalars(select(SendingDomain)).one()
    assert (sender.email, sender.is_default, sender.name) == ("ada@acme.example", True, "Acme")
    assert (domain.domain, domain.verified_by) == ("acme.example", "attest")
    assert {sender.workspace_id, domain.workspace_id} == {made.workspace_id}


def test_a_repetition_changes_nothing_but_what_is_missing(session: Session) -> None:
    done(session)
    done(session)
    assert filled(session) == MADE
    session.scalars(select(Sender)).one().is_default = False
    session.flush()
    session.add(
        Sender(
            workspace_id=session.scalars(select(Workspace.id)).one(), public_id="other",
            email="news@acme.example", is_default=True, created_at=AT,
        )
    )  # fmt: skip
    done(session)
    session.expire_all()
    defaults = session.scalars(select(Sender.email).where(Sender.is_default)).all()
    assert defaults == ["news@acme.example"]


def test_what_was_done_is_audited_and_names_no_secret(session: Session) -> None:
    done(session)
    session.flush()
    lines = session.scalars(select(AuditEntry)).all()
    assert {line.actor for line in lines} == {"system:setup"}
    assert {line.action for line in lines} == {
        "workspace.created", "user.added", "api_key.created", "sender.created",
        "sending_domain.attested",
    }  # fmt: skip
    printed = str([line.details for line in lines])
    assert PASSWORD not in printed
    assert str(ASKED.api_key) not in printed


@pytest.mark.parametrize(
    ("email", "reason"),
    [("root@localhost", "domain_invalid"), ("a..b@acme.example", "email_invalid")],
)
def test_an_address_that_cannot_send_is_refused(session: Session, email: str, reason: str) -> None:
    refused = compose(session, SetUp(email, PASSWORD, "Acme"))
    assert isinstance(refused, Refused)
    assert refused.reason == reason


def test_the_command_makes_an_installation_that_works(stack: Stack) -> None:
    printed = stack.setup()
    database = Database(make_url(stack.database_url))
    with UnitOfWork(database).begin() as session:
        entered = sign_in(session, OWNER, PASSWORD, Origin(), AT)
        holder = authenticate_key(session, stack.api_key, AT)
    database.dispose()
    assert isinstance(entered, SignedIn)
    assert holder is not None
    assert printed["workspace"] == {
        "id": entered.person.workspace_public_id, "name": "Acme"
    }  # fmt: skip
    assert printed["user"]["email"] == OWNER
    assert printed["api_key"] == {"id": holder.public_id}
    assert printed["created"] is True


def test_the_command_migrates_an_empty_database(cli: Cli, empty_database_url: str) -> None:
    cli.env["STELLWERK_DATABASE_URL"] = empty_database_url
    assert json.loads(cli(*ARGUMENTS, stdin=f"{PASSWORD}\n"))["created"] is True
    assert "schema fits" in cli("db", "check")


def test_the_command_may_be_repeated_and_keeps_the_password(cli: Cli) -> None:
    first = json.loads(cli(*ARGUMENTS, stdin=f"{PASSWORD}\n"))
    assert json.loads(cli(*ARGUMENTS, stdin="another password\n")) == {**first, "created": False}
    text_form = cli(*ARGUMENTS[:-1], stdin="another password\n")
    assert "keeps its password" in text_form
    database = Database(cli.database)
    with UnitOfWork(database).begin() as session:
        assert isinstance(sign_in(session, OWNER, PASSWORD, Origin(), AT), SignedIn)
    database.dispose()


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["--password-stdin"], "pw\n", "--email"),
        (["--email", OWNER], "pw\n", "--password-stdin"),
        (["--email", "nobody", "--password-stdin"], "pw\n", "no e-mail address"),
        (["--email", OWNER, "--password-stdin"], "\n", "The password is empty"),
        (["--email", OWNER, "--password-stdin"], "", "The password is empty"),
        (["--email", OWNER, "--password-stdin", "--workspace", " "], "pw\n", "The name is empty"),
        (
            ["--email", OWNER, "--password-stdin", "--api-key", "short key"],
            "pw\n",
            "24 to 200 printable",
        ),
        (["--email", OWNER, "--password-stdin", "--api-key", ""], "pw\n", "24 to 200 printable"),
        (["--email", "root@localhost", "--password-stdin"], "pw\n", "is no domain"),
    ],
)
def test_a_wrong_call_is_refused_in_a_sentence_and_leaves_nothing(
    cli: Cli, arguments: list[str], stdin: str, said: str
) -> None:
    line = cli.refused("setup", *arguments, stdin=stdin)
    assert said in line
    assert "short key" not in line
    database = Database(cli.database)
    with database.session() as session:
        assert session.scalar(select(func.count()).select_from(User)) == 0
    database.dispose()


def test_a_short_password_is_taken_with_a_note(cli: Cli) -> None:
    made = cli.run("setup", "--email", OWNER, "--password-stdin", stdin="pw\n")
    assert made.exit_code == 0
    assert "the password is short" in made.stderr


def test_an_older_program_refuses_a_newer_schema(cli: Cli) -> None:
    database = Database(cli.database)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.dispose()
    line = cli.refused("setup", "--email", OWNER, "--password-stdin", stdin="pw\n")
    assert line.startswith("stellwerk: the database has schema 9999")
