"""Users, memberships and new workspaces."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.accounts import passwords, queries
from engine.accounts.models import ROLES, ApiKey, Membership, User, Workspace
from engine.accounts.service import (
    AddedUser,
    NewUser,
    Origin,
    SetUp,
    SetUpDone,
    SignedIn,
    add_user,
    authenticate_key,
    change_password,
    change_role,
    resume_session,
    set_up,
    sign_in,
)
from engine.core.audit import AuditEntry, system
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.accounts import AT, PASSWORD

CLI = system("cli")
KEY = "a key of 24 characters or more"
ASKED = SetUp("Ada@Acme.example", "p^V&X@:/?#", "Acme", KEY)
COUNTED = (Workspace, User, Membership, ApiKey, AuditEntry)


def counts(session: Session) -> list[int]:
    """Return how many rows of each kind there are."""
    session.flush()
    return [session.scalar(select(func.count()).select_from(row)) or 0 for row in COUNTED]


def done(session: Session, asked: SetUp = ASKED) -> SetUpDone:
    """Set up and expect success."""
    result = set_up(session, asked, AT)
    assert isinstance(result, SetUpDone)
    return result


def test_set_up_makes_owner_workspace_and_key(session: Session) -> None:
    made = done(session)
    assert (made.email, made.domain) == ("ada@acme.example", "acme.example")
    assert (made.created_user, made.created_workspace) == (True, True)
    entered = sign_in(session, "ada@acme.example", "p^V&X@:/?#", Origin(), AT)
    assert isinstance(entered, SignedIn)
    assert entered.person.role == "owner"
    assert entered.person.workspace_public_id == made.workspace_public_id
    holder = authenticate_key(session, KEY, AT)
    assert holder is not None
    assert holder.workspace_id == made.workspace_id
    assert holder.scopes == {"full"}
    assert holder.public_id == made.key_public_id


def test_set_up_again_changes_nothing(session: Session) -> None:
    first = done(session)
    before = counts(session)
    again = done(session, replace(ASKED, password="another"))
    assert again == replace(first, created_user=False, created_workspace=False)
    assert counts(session) == before
    assert isinstance(sign_in(session, ASKED.email, ASKED.password, Origin(), AT), SignedIn)


@pytest.mark.parametrize(
    ("change", "users", "workspaces"),
    [
        ({"workspace": "Beta"}, 1, 2),
        ({"email": "bob@acme.example"}, 2, 2),
        ({"workspace": "  Acme "}, 1, 1),
        ({"email": "ADA@ACME.EXAMPLE"}, 1, 1),
    ],
)
def test_set_up_is_idempotent_per_name_and_address(
    session: Session, change: dict[str, str], users: int, workspaces: int
) -> None:
    done(session)
    done(session, replace(replace(ASKED, api_key=None), **change))
    assert counts(session)[:2] == [workspaces, users]


def test_a_second_key_can_be_added_later(session: Session) -> None:
    without = done(session, replace(ASKED, api_key=None))
    assert without.key_public_id is None
    assert done(session).key_public_id is not None
    assert counts(session)[3] == 1


def test_a_key_of_another_workspace_or_a_revoked_one_is_refused(session: Session) -> None:
    made = done(session)
    assert set_up(session, replace(ASKED, workspace="Beta"), AT) == Refused("key_taken")
    session.scalars(select(ApiKey)).one().revoked_at = AT
    session.flush()
    assert set_up(session, ASKED, AT) == Refused("key_taken")
    assert made.key_public_id


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"email": ""}, "bad_email"),
        ({"email": "ada"}, "bad_email"),
        ({"email": "ada@"}, "bad_email"),
        ({"email": "a@b@c.example"}, "bad_email"),
        ({"email": "ada@acme.example\nBcc: x@y.example"}, "bad_email"),
        ({"email": "ada @acme.example"}, "bad_email"),
        ({"email": "ada@acme..example"}, "bad_email"),
        ({"email": "ada@-acme.example"}, "bad_email"),
        ({"email": f"{'x' * 65}@acme.example"}, "bad_email"),
        ({"email": f"a@{'x.' * 130}example"}, "bad_email"),
        ({"password": ""}, "password_missing"),
        ({"password": "x" * 1025}, "password_too_long"),
        ({"workspace": " "}, "name_missing"),
        ({"workspace": "x" * 201}, "name_too_long"),
        ({"workspace": "Acme\nInc"}, "name_invalid"),
        ({"api_key": ""}, "weak_key"),
        ({"api_key": "x" * 23}, "weak_key"),
    ],
)
def test_a_wrong_set_up_is_refused(session: Session, change: dict[str, str], reason: str) -> None:
    refused = set_up(session, replace(ASKED, **change), AT)
    assert isinstance(refused, Refused)
    assert refused.reason == reason


@pytest.mark.parametrize(
    "email", ["root@localhost", "a@intra.local", "o'neil+x@acme.example", "a@bücher.example"]
)
def test_addresses_of_closed_networks_are_taken(session: Session, email: str) -> None:
    assert done(session, replace(ASKED, email=email)).email == email


def test_twenty_set_ups_at_once_make_one_workspace(uow: UnitOfWork) -> None:
    start = Barrier(20)

    def once(_number: int) -> str:
        start.wait()
        with uow.begin() as session:
            return done(session).workspace_public_id

    with ThreadPoolExecutor(20) as pool:
        made = set(pool.map(once, range(20)))
    with uow.read() as session:
        assert counts(session)[:4] == [1, 1, 1, 1]
    assert len(made) == 1


@pytest.mark.parametrize("role", ROLES)
def test_a_person_is_added_with_a_role(session: Session, role: str) -> None:
    home = accounts.workspace(session).id
    added = add_user(session, home, NewUser(" Eve@Acme.example", role, PASSWORD, " Eve "), CLI, AT)
    assert isinstance(added, AddedUser)
    assert (added.email, added.created) == ("eve@acme.example", True)
    (line,) = queries.list_users(session, home)
    assert (line.public_id, line.role, line.name) == (added.public_id, role, "Eve")
    session.flush()
    assert [entry.action for entry in session.scalars(select(AuditEntry))] == ["user.added"]


def test_an_account_of_another_workspace_joins_with_its_password(session: Session) -> None:
    accounts.user(session, accounts.workspace(session).id, email="eve@acme.example")
    home = accounts.workspace(session).id
    added = add_user(session, home, NewUser("eve@acme.example", "editor", None), CLI, AT)
    assert isinstance(added, AddedUser)
    assert not added.created
    assert isinstance(sign_in(session, "eve@acme.example", PASSWORD, Origin(), AT), SignedIn)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (NewUser("eve", "editor", PASSWORD), "bad_email"),
        (NewUser("eve@acme.example", "queen", PASSWORD), "unknown_role"),
        (NewUser("eve@acme.example", "editor", None), "password_missing"),
        (NewUser("eve@acme.example", "editor", "x" * 7), "password_too_short"),
        (NewUser("eve@acme.example", "editor", "x" * 1025), "password_too_long"),
        (NewUser("ada@acme.example", "editor", PASSWORD), "already_member"),
    ],
)
def test_a_wrong_person_is_refused(session: Session, asked: NewUser, reason: str) -> None:
    home = accounts.workspace(session).id
    accounts.user(session, home, email="ada@acme.example")
    refused = add_user(session, home, asked, CLI, AT)
    assert isinstance(refused, Refused)
    assert refused.reason == reason
    assert counts(session)[1:3] == [1, 1]


def test_a_role_changes_and_the_change_is_audited(session: Session) -> None:
    home = accounts.workspace(session).id
    eve = accounts.user(session, home, "editor")
    changed = change_role(session, home, eve.public_id, "admin", CLI, AT)
    assert changed == Transitioned("editor", "admin")
    assert change_role(session, home, eve.public_id, "admin", CLI, AT) == Recorded("admin")
    session.flush()
    (line,) = session.scalars(select(AuditEntry))
    assert line.details == {"previous_role": "editor", "new_role": "admin"}


def test_a_workspace_never_lacks_an_owner(session: Session) -> None:
    home = accounts.workspace(session).id
    ada, bob = accounts.user(session, home), accounts.user(session, home)
    assert change_role(session, home, ada.public_id, "admin", CLI, AT) == Transitioned(
        "owner", "admin"
    )
    assert change_role(session, home, bob.public_id, "admin", CLI, AT) == Refused("last_owner")


def test_a_role_needs_a_member_and_a_known_word(session: Session) -> None:
    home = accounts.workspace(session).id
    stranger = accounts.user(session, accounts.workspace(session).id)
    for person in (stranger.public_id, "nobody"):
        refused = change_role(session, home, person, "admin", CLI, AT)
        assert refused == Refused("user_not_found", "missing")
    unknown = change_role(session, home, stranger.public_id, "queen", CLI, AT)
    assert isinstance(unknown, Refused)
    assert unknown.reason == "unknown_role"


def test_a_new_password_ends_every_session_and_the_old_password(session: Session) -> None:
    ada = accounts.user(session, accounts.workspace(session).id)
    opened = [sign_in(session, ada.email, PASSWORD, Origin(), AT) for _ in range(2)]
    assert change_password(session, ada.public_id, "new p^V&X@:/?#", CLI, AT) == 2
    for one in opened:
        assert isinstance(one, SignedIn)
        assert resume_session(session, one.token, AT) is None
    assert isinstance(sign_in(session, ada.email, PASSWORD, Origin(), AT), Refused)
    assert isinstance(sign_in(session, ada.email, "new p^V&X@:/?#", Origin(), AT), SignedIn)
    session.flush()
    (line,) = session.scalars(select(AuditEntry))
    assert (line.action, line.details) == ("user.password_changed", {"sessions": 2})


@pytest.mark.parametrize(
    ("password", "reason"),
    [("", "password_missing"), ("x" * 7, "password_too_short"), ("x" * 1025, "password_too_long")],
)
def test_a_wrong_new_password_changes_nothing(session: Session, password: str, reason: str) -> None:
    ada = accounts.user(session, accounts.workspace(session).id)
    refused = change_password(session, ada.public_id, password, CLI, AT)
    assert isinstance(refused, Refused)
    assert refused.reason == reason
    assert passwords.verify(ada.password_hash, PASSWORD)


def test_the_password_of_nobody_cannot_change(session: Session) -> None:
    refused = change_password(session, "nobody", PASSWORD, CLI, AT)
    assert refused == Refused("user_not_found", "missing")
