"""The matrix of decision G10, asked in both directions, and scopes of keys."""

import re
from typing import Final

import pytest

from engine.accounts.models import ROLES
from engine.accounts.permissions import FULL, PERMISSIONS, SCOPES, covers, may

# Written down a second time, from the decision and not from the code: what each role lacks.
DEFINITIONS: Final = {
    f"{area}:manage"
    for area in ("approvals", "automations", "campaigns", "contacts", "messages", "properties",
                 "secrets", "segments", "templates", "topics")
}  # fmt: skip
READS: Final = {name for name in PERMISSIONS if name.endswith(":read")}
ACTS: Final = {"contacts:act", "messages:act", "runs:act", "sends:act"}
HOLDS: Final = {
    "owner": set(PERMISSIONS),
    "admin": set(PERMISSIONS) - {"ownership:manage"},
    "editor": (READS | DEFINITIONS) - {"api-keys:read", "audit:read"},
    "support": READS | ACTS,
}


@pytest.mark.parametrize("permission", sorted(PERMISSIONS))
@pytest.mark.parametrize("role", ROLES)
def test_a_role_holds_exactly_what_the_decision_gives_it(role: str, permission: str) -> None:
    assert may(role, permission) is (permission in HOLDS[role])


@pytest.mark.parametrize("permission", sorted(PERMISSIONS))
def test_a_permission_is_an_area_and_a_verb(permission: str) -> None:
    assert re.fullmatch(r"[a-z-]+:(manage|publish|send|act|read)|events:write", permission)


@pytest.mark.parametrize("permission", sorted(PERMISSIONS))
def test_a_scope_covers_itself_and_the_full_scope_everything(permission: str) -> None:
    assert covers({permission}, permission)
    assert covers({FULL}, permission)
    assert not covers(SCOPES - {permission, FULL}, permission)
    assert not covers(set(), permission)


def test_a_stranger_to_the_roles_holds_nothing() -> None:
    assert not any(may("guest", permission) for permission in PERMISSIONS)


def test_an_unknown_permission_is_a_bug() -> None:
    with pytest.raises(KeyError):
        may("owner", "automations:paint")
    with pytest.raises(KeyError):
        covers({FULL}, "automations:paint")
