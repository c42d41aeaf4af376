"""Lists and look-ups of accounts."""

import pytest
from sqlalchemy.orm import Session

from engine.accounts import queries
from tests.factories import accounts
from tests.factories.accounts import AT


def test_keys_page_newest_first_without_gap_or_repeat(session: Session) -> None:
    home, other = (accounts.workspace(session).id for _ in range(2))
    made = [accounts.api_key(session, home)[0].public_id for _ in range(7)]
    accounts.api_key(session, other)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        lines, cursor = queries.list_keys(session, home, cursor, limit=3)
        seen += [line.public_id for line in lines]
        if cursor is None:
            break
    assert seen == made[::-1]


@pytest.mark.parametrize(
    "cursor", ["", "nonsense", "WyJhIl0", "WyI5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5Il0"]
)
def test_a_cursor_that_nobody_wrote_shows_the_first_page(session: Session, cursor: str) -> None:
    home = accounts.workspace(session).id
    key, _secret = accounts.api_key(session, home, revoked_at=AT)
    lines, _next = queries.list_keys(session, home, cursor)
    assert [(line.public_id, line.revoked_at) for line in lines] == [(key.public_id, AT)]


def test_one_key_is_found_in_its_own_workspace_only(session: Session) -> None:
    home, other = (accounts.workspace(session).id for _ in range(2))
    key, secret = accounts.api_key(session, home, ["events:write"])
    line = queries.get_key(session, home, key.public_id)
    assert line is not None
    assert (line.scopes, line.prefix) == (("events:write",), secret[:8])
    assert queries.get_key(session, other, key.public_id) is None


def test_people_are_listed_by_address_with_their_role_here(session: Session) -> None:
    home, other = (accounts.workspace(session).id for _ in range(2))
    bob = accounts.user(session, home, "support", "bob@acme.example")
    accounts.user(session, home, "owner", "ada@acme.example")
    accounts.join(session, other, bob, "admin")
    here = [(line.email, line.role) for line in queries.list_users(session, home)]
    assert here == [("ada@acme.example", "owner"), ("bob@acme.example", "support")]
    assert [line.role for line in queries.list_users(session, other)] == ["admin"]


def test_a_workspace_is_found_by_name_and_by_id(session: Session) -> None:
    first, second = (accounts.workspace(session, name) for name in ("Acme", "Beta"))
    namesake = accounts.workspace(session, "Acme")
    found = {
        text: queries.find_workspaces(session, text) for text in (None, "Acme", second.public_id)
    }
    assert [line.id for line in found[None]] == [first.id, second.id, namesake.id]
    assert [line.id for line in found["Acme"]] == [first.id, namesake.id]
    assert [line.name for line in found[second.public_id]] == ["Beta"]
    assert queries.find_workspaces(session, "acme") == []
    assert queries.get_workspace(session, first.id) == found["Acme"][0]
    assert queries.get_workspace(session, 10_000) is None


def test_an_account_is_found_by_its_address_in_any_spelling(session: Session) -> None:
    ada = accounts.user(session, accounts.workspace(session).id, email="ada@acme.example")
    assert queries.find_user(session, " ADA@acme.example ") == ada.public_id
    assert queries.find_user(session, "bob@acme.example") is None
