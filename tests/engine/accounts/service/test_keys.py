"""API keys: what may be issued, who they let in, when their use is noted."""

from datetime import timedelta

import pytest
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from engine.accounts.models import ApiKey
from engine.accounts.permissions import FULL
from engine.accounts.service import (
    IssuedKey,
    authenticate_key,
    create_key,
    note_key_use,
    revoke_key,
)
from engine.accounts.service.keys import LONGEST, SHORTEST, due_for_note
from engine.core.audit import Actor, AuditEntry
from engine.core.outcome import Problem, Recorded, Refused, Transitioned
from tests.factories import accounts
from tests.factories.accounts import AT

ADA = Actor("user:ada", "192.0.2.1", "Browser")
CHOSEN = "p^V&X@:/?#-0123456789-abc"


@pytest.fixture
def home(session: Session) -> int:
    """Return a workspace."""
    return accounts.workspace(session).id


def issue(session: Session, home: int, value: str | None = None) -> IssuedKey:
    """Create a key for events."""
    made = create_key(session, home, " Shop ", ["events:write"], ADA, AT, value)
    assert isinstance(made, IssuedKey)
    return made


@pytest.mark.parametrize(
    "value", [None, CHOSEN, "x" * SHORTEST, "y" * LONGEST, "with a space " * 2 + "."]
)
def test_a_key_lets_its_holder_in(session: Session, home: int, value: str | None) -> None:
    made = issue(session, home, value)
    holder = authenticate_key(session, made.secret, AT)
    assert holder is not None
    assert (holder.workspace_id, holder.public_id) == (home, made.public_id)
    assert holder.scopes == {"events:write"}
    assert made.name == "Shop"
    assert made.secret == (value or made.secret)


def test_a_key_is_stored_hashed_with_its_beginning(session: Session, home: int) -> None:
    made = issue(session, home)
    row = session.scalars(select(ApiKey)).one()
    assert made.secret.startswith("sw_")
    assert row.prefix == made.secret[:8]
    assert made.secret not in {str(value) for value in vars(row).values()}


@pytest.mark.parametrize(
    ("name", "scopes", "value", "reason", "pointer"),
    [
        ("", [FULL], None, "name_missing", "/name"),
        ("  ", [FULL], None, "name_missing", "/name"),
        ("x" * 201, [FULL], None, "name_too_long", "/name"),
        ("a", [], None, "scopes_missing", "/scopes"),
        ("a", ["events:write", "events:paint"], None, "unknown_scope", "/scopes"),
        ("a", ["*"], None, "unknown_scope", "/scopes"),
        ("a", [FULL], "", "weak_key", "/value"),
        ("a", [FULL], "x" * 23, "weak_key", "/value"),
        ("a", [FULL], "x" * 201, "weak_key", "/value"),
        ("a", [FULL], " " + "x" * 30, "weak_key", "/value"),
        ("a", [FULL], "x" * 30 + "\n", "weak_key", "/value"),
        ("a", [FULL], "x" * 30 + "\t" + "x", "weak_key", "/value"),
        ("a", [FULL], "ü" * 30, "weak_key", "/value"),
    ],
)
def test_a_wrong_key_is_refused_with_its_pointer(
    session: Session, home: int, name: str, scopes: list[str], value: str | None, reason: str,
    pointer: str,
) -> None:  # fmt: skip
    refused = create_key(session, home, name, scopes, ADA, AT, value)
    assert isinstance(refused, Refused)
    assert (refused.reason, refused.kind) == (reason, "invalid")
    assert refused.problems == (Problem(pointer, reason, refused.params),)
    assert session.scalars(select(ApiKey)).all() == []


def test_a_value_is_given_once_even_after_its_revocation(session: Session, home: int) -> None:
    made = issue(session, home, CHOSEN)
    other = accounts.workspace(session).id
    for _ in range(2):
        for place in (home, other):
            taken = create_key(session, place, "b", [FULL], ADA, AT, CHOSEN)
            assert taken == Refused("key_taken")
        revoke_key(session, home, made.public_id, ADA, AT)


def test_a_revoked_key_lets_nobody_in(session: Session, home: int) -> None:
    made, other = issue(session, home), issue(session, home)
    assert revoke_key(session, home, made.public_id, ADA, AT) == Transitioned("active", "revoked")
    assert authenticate_key(session, made.secret, AT) is None
    assert authenticate_key(session, other.secret, AT) is not None


def test_revoking_again_is_harmless_and_keeps_the_first_instant(
    session: Session, home: int
) -> None:
    made = issue(session, home)
    revoke_key(session, home, made.public_id, ADA, AT)
    later = AT + timedelta(days=1)
    assert revoke_key(session, home, made.public_id, ADA, later) == Recorded("revoked")
    assert session.scalars(select(ApiKey.revoked_at)).one() == AT


def test_a_key_of_another_workspace_cannot_be_revoked(session: Session, home: int) -> None:
    made = issue(session, home)
    stranger = accounts.workspace(session).id
    refused = Refused("api_key_not_found", "missing")
    assert revoke_key(session, stranger, made.public_id, ADA, AT) == refused
    assert revoke_key(session, home, "unknown", ADA, AT) == refused
    assert authenticate_key(session, made.secret, AT) is not None


@pytest.mark.parametrize("key", ["", "sw_", "unknown", "\udcff", "x" * 100_000])
def test_an_unknown_key_is_nobody(session: Session, home: int, key: str) -> None:
    issue(session, home)
    assert authenticate_key(session, key, AT) is None


def test_authenticating_reads_once_and_writes_nothing(session: Session, home: int) -> None:
    secret = issue(session, home).secret
    session.flush()
    seen: list[str] = []
    bind = session.get_bind()
    event.listen(bind, "before_cursor_execute", lambda *args: seen.append(args[2].split()[0]))
    authenticate_key(session, secret, AT)
    assert seen == ["SELECT"]


@pytest.mark.parametrize(("seconds", "noted"), [(1, False), (60, False), (61, True)])
def test_use_is_noted_at_most_once_a_minute(
    session: Session, home: int, seconds: int, noted: bool
) -> None:
    secret = issue(session, home).secret
    first = authenticate_key(session, secret, AT)
    assert first is not None
    assert due_for_note(first, AT)
    note_key_use(session, first, AT)
    at = AT + timedelta(seconds=seconds)
    second = authenticate_key(session, secret, at)
    assert second is not None
    assert due_for_note(second, at) is noted
    note_key_use(session, second, at)
    assert session.scalars(select(ApiKey.last_used_at)).one() == (at if noted else AT)


def test_issue_and_revocation_are_audited_without_the_secret(session: Session, home: int) -> None:
    made = issue(session, home)
    for _ in range(2):
        revoke_key(session, home, made.public_id, ADA, AT)
    session.flush()
    lines = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [line.action for line in lines] == ["api_key.created", "api_key.revoked"]
    assert {(line.actor, line.resource, line.resource_id) for line in lines} == {
        ("user:ada", "api_key", made.public_id)
    }
    assert lines[0].details == {
        "name": "Shop", "prefix": made.prefix, "scopes": "events:write"
    }  # fmt: skip
    assert made.secret not in str([line.details for line in lines])
