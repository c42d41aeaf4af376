"""Signing in: neutral refusals, the limit on tries, the life of a session."""

import time
from datetime import timedelta
from statistics import median

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts import passwords
from engine.accounts.models import EDITOR, Membership, User, UserSession
from engine.accounts.service import (
    Origin,
    SignedIn,
    note_seen,
    resume_session,
    revoke_sessions,
    sign_in,
    sign_out,
)
from engine.accounts.service.sessions import IDLE, LONGEST, TRIES, WINDOW
from engine.core.audit import AuditEntry, system
from engine.core.outcome import Refused
from engine.core.rate import RateWindow
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.accounts import AT, PASSWORD

EMAIL = "ada@acme.example"
HERE = Origin("192.0.2.1", "Browser")
BAD = Refused("bad_credentials", "forbidden")
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def cheap_nobody(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a try at an unknown account cost as little as the other hashes of tests."""
    if request.node.get_closest_marker("real_passwords") is None:
        monkeypatch.setattr(passwords, "_NOBODY", passwords.hash_password("nobody"))


@pytest.fixture
def ada(session: Session) -> User:
    """Return the owner of a workspace."""
    return accounts.user(session, accounts.workspace(session).id, email=EMAIL)


def enter(session: Session, email: str = EMAIL, origin: Origin = HERE) -> SignedIn:
    """Sign in with the right password."""
    done = sign_in(session, email, PASSWORD, origin, AT)
    assert isinstance(done, SignedIn)
    return done


@pytest.mark.parametrize("email", [EMAIL, "  Ada@ACME.example "])
def test_the_right_password_opens_a_session(session: Session, ada: User, email: str) -> None:
    done = enter(session, email)
    person = resume_session(session, done.token, AT)
    assert person is not None
    assert (person.email, person.role, person.workspace_name) == (EMAIL, "owner", "Acme")
    assert (person.user_id, person.language, person.timezone) == (ada.id, None, "UTC")
    assert ada.last_signed_in_at == AT


def test_the_token_is_stored_hashed_and_never_the_same(session: Session, ada: User) -> None:
    tokens = {enter(session).token for _ in range(3)}
    stored = set(session.scalars(select(UserSession.token_hash)))
    assert len(tokens) == 3
    assert not tokens & stored


@pytest.mark.parametrize(
    ("email", "password"),
    [
        (EMAIL, "wrong"),
        (EMAIL, ""),
        (EMAIL, PASSWORD.upper()),
        (EMAIL, "x" * 100_000),
        ("nobody@acme.example", PASSWORD),
        ("", ""),
        ("not an address", PASSWORD),
        ("lonely@acme.example", PASSWORD),
    ],
)
def test_every_wrong_try_gets_the_same_answer(
    session: Session, ada: User, email: str, password: str
) -> None:
    lonely = accounts.user(session, accounts.workspace(session).id, email="lonely@acme.example")
    session.delete(accounts.join(session, accounts.workspace(session).id, lonely))
    leave_all(session, lonely)
    assert sign_in(session, email, password, HERE, AT) == BAD


def leave_all(session: Session, person: User) -> None:
    """End every membership of a person."""
    for membership in session.scalars(select(Membership).where(Membership.user_id == person.id)):
        session.delete(membership)
    session.flush()


@pytest.mark.real_passwords
def test_an_unknown_account_takes_as_long_as_a_known_one(session: Session, ada: User) -> None:
    ada.password_hash = passwords.hash_password(PASSWORD)
    session.flush()
    took: dict[str, list[float]] = {EMAIL: [], "nobody@acme.example": []}
    for _ in range(5):
        for email, times in took.items():
            began = time.perf_counter()
            sign_in(session, email, "wrong", Origin(), AT)
            times.append(time.perf_counter() - began)
    known, unknown = (median(times) for times in took.values())
    assert 0.5 < unknown / known < 2


@pytest.mark.real_passwords
def test_a_hash_with_old_parameters_is_renewed(session: Session, ada: User) -> None:
    assert passwords.needs_rehash(ada.password_hash)
    enter(session)
    assert not passwords.needs_rehash(ada.password_hash)
    enter(session)


@pytest.mark.parametrize("email", [EMAIL, "nobody@acme.example"])
def test_the_twentieth_try_is_refused_even_with_the_right_password(
    session: Session, ada: User, email: str
) -> None:
    for _ in range(TRIES):
        assert sign_in(session, email, "wrong", Origin(), AT) == BAD
    at = AT + timedelta(minutes=14)
    locked = sign_in(session, email, PASSWORD, Origin(), at)
    assert isinstance(locked, Refused)
    assert (locked.reason, locked.kind) == ("too_many_tries", "too_many")
    assert locked.params == {"retry_after": 61}
    assert TRIES == 19


def test_the_lock_ends_with_its_window(session: Session, ada: User) -> None:
    for _ in range(TRIES + 5):
        sign_in(session, EMAIL, "wrong", HERE, AT)
    assert isinstance(sign_in(session, EMAIL, PASSWORD, HERE, AT + WINDOW - SECOND), Refused)
    assert isinstance(sign_in(session, EMAIL, PASSWORD, HERE, AT + WINDOW), SignedIn)


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("no address at all", "no address at all", True),
    ],
)
def test_tries_are_counted_by_address_of_the_network_too(
    session: Session, ada: User, first: str, second: str, shared: bool
) -> None:
    for number in range(TRIES):
        sign_in(session, f"nobody{number}@acme.example", "wrong", Origin(first), AT)
    done = sign_in(session, EMAIL, PASSWORD, Origin(second), AT)
    assert isinstance(done, Refused) is shared


def test_an_office_behind_one_address_may_sign_in_as_often_as_it_likes(
    session: Session, ada: User
) -> None:
    for _ in range(2 * TRIES):
        enter(session)


def test_the_table_of_rates_holds_no_address_of_a_person(session: Session, ada: User) -> None:
    sign_in(session, EMAIL, "wrong", HERE, AT)
    assert not any("@" in key for key in session.scalars(select(RateWindow.key)))


def test_a_refused_try_counts_once_it_is_committed(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        accounts.user(session, accounts.workspace(session).id, email=EMAIL)
    for _ in range(TRIES):
        with uow.begin() as session:
            sign_in(session, EMAIL, "wrong", HERE, AT)
    with uow.begin() as session:
        assert isinstance(sign_in(session, EMAIL, PASSWORD, HERE, AT), Refused)


def test_a_lock_is_audited_once_in_each_workspace(session: Session, ada: User) -> None:
    accounts.join(session, accounts.workspace(session, "Second").id, ada, EDITOR)
    for _ in range(TRIES + 10):
        sign_in(session, EMAIL, "wrong", HERE, AT)
    lines = audited(session)
    assert [line.action for line in lines] == ["user.sign_in_locked"] * 2
    assert len({line.workspace_id for line in lines}) == 2
    assert {(line.ip_address, line.resource_id) for line in lines} == {("192.0.2.1", ada.public_id)}


def test_a_lock_of_an_unknown_account_leaves_no_line(session: Session, ada: User) -> None:
    for _ in range(TRIES + 2):
        sign_in(session, "nobody@acme.example", "wrong", HERE, AT)
    assert audited(session) == []


def audited(session: Session) -> list[AuditEntry]:
    """Return the audit log."""
    session.flush()
    return list(session.scalars(select(AuditEntry).order_by(AuditEntry.id)))


@pytest.mark.parametrize("token", ["", "unknown", "\udcff", "x" * 10_000])
def test_an_unknown_token_is_nobody(session: Session, ada: User, token: str) -> None:
    enter(session)
    assert resume_session(session, token, AT) is None


def test_signing_out_ends_this_session_alone(session: Session, ada: User) -> None:
    first, second = enter(session).token, enter(session).token
    sign_out(session, first, AT)
    sign_out(session, "unknown", AT)
    assert resume_session(session, first, AT) is None
    assert resume_session(session, second, AT) is not None


def test_revoking_ends_all_sessions_of_this_person_alone(session: Session, ada: User) -> None:
    home = accounts.workspace(session).id
    bob = accounts.user(session, home, email="bob@acme.example")
    tokens = [enter(session).token for _ in range(2)]
    others = enter(session, "bob@acme.example").token
    assert revoke_sessions(session, ada.public_id, AT, system("cli")) == 2
    assert [resume_session(session, token, AT) for token in tokens] == [None, None]
    assert resume_session(session, others, AT) is not None
    assert revoke_sessions(session, ada.public_id, AT) == 0
    assert [line.action for line in audited(session)] == ["user.sessions_revoked"] * 2
    assert bob.public_id not in {line.resource_id for line in audited(session)}


def test_revoking_the_sessions_of_nobody_is_refused(session: Session) -> None:
    assert revoke_sessions(session, "nobody", AT) == Refused("user_not_found", "missing")


def test_a_person_who_left_the_workspace_is_out_at_once(session: Session, ada: User) -> None:
    token = enter(session).token
    leave_all(session, ada)
    assert resume_session(session, token, AT) is None


@pytest.mark.parametrize(
    ("after", "alive"), [(IDLE, True), (IDLE + SECOND, False), (LONGEST + SECOND, False)]
)
def test_an_unused_session_ends(session: Session, ada: User, after: timedelta, alive: bool) -> None:
    token = enter(session).token
    assert (resume_session(session, token, AT + after) is not None) is alive


def test_a_session_in_use_lives_longer_but_not_for_ever(session: Session, ada: User) -> None:
    token, at = enter(session).token, AT
    while resume_session(session, token, at):
        note_seen(session, token, at)
        at += timedelta(days=10)
    assert IDLE < LONGEST < at - AT <= LONGEST + timedelta(days=10)


@pytest.mark.parametrize(("seconds", "noted"), [(1, False), (60, False), (61, True)])
def test_a_visit_is_noted_at_most_once_a_minute(
    session: Session, ada: User, seconds: int, noted: bool
) -> None:
    token, at = enter(session).token, AT + timedelta(seconds=seconds)
    note_seen(session, token, at)
    person = resume_session(session, token, at)
    assert person is not None
    assert person.seen_at == (at if noted else AT)
