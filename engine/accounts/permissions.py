"""What each role may do and what each API scope covers (decision G10).

Owns the one table of permissions; where a permission is asked for stands beside each route.
"""

from collections.abc import Collection, Mapping
from typing import Final

from engine.accounts.models import ADMIN, EDITOR, OWNER, ROLES, SUPPORT

# The scope of a key that may do everything the API offers.
FULL: Final = "full"

_ALL: Final = frozenset(ROLES)
_ADMINS: Final = frozenset({OWNER, ADMIN})
_MAKERS: Final = frozenset({OWNER, ADMIN, EDITOR})
_HELPERS: Final = frozenset({OWNER, ADMIN, SUPPORT})
_OWNERS: Final = frozenset({OWNER})

# permission → roles that hold it. `manage` changes definitions, `publish` and `send` let mail out,
# `act` works on one person's run, send or message, `read` only looks.
PERMISSIONS: Final[Mapping[str, frozenset[str]]] = {
    "api-keys:manage": _ADMINS,
    "api-keys:read": _HELPERS,
    # Ask somebody who may publish, and decide what others asked for (decision G10).
    "approvals:act": _ADMINS,
    "approvals:manage": _MAKERS,
    "approvals:read": _ALL,
    "audit:read": _HELPERS,
    "automations:manage": _MAKERS,
    "automations:publish": _ADMINS,
    "automations:read": _ALL,
    "campaigns:manage": _MAKERS,
    "campaigns:read": _ALL,
    "campaigns:send": _ADMINS,
    "contacts:act": _HELPERS,
    "contacts:manage": _MAKERS,
    "contacts:read": _ALL,
    "events:write": _ADMINS,
    "imports:manage": _ADMINS,
    "imports:read": _ALL,
    "messages:act": _HELPERS,
    "messages:manage": _MAKERS,
    "messages:read": _ALL,
    # Delete the workspace, make and unmake owners: the one thing an admin may not.
    "ownership:manage": _OWNERS,
    "properties:manage": _MAKERS,
    "properties:read": _ALL,
    "runs:act": _HELPERS,
    "runs:read": _ALL,
    "secrets:manage": _MAKERS,
    "secrets:read": _ALL,
    "segments:manage": _MAKERS,
    "segments:read": _ALL,
    "senders:manage": _ADMINS,
    "senders:read": _ALL,
    "sends:act": _HELPERS,
    "sends:read": _ALL,
    "templates:manage": _MAKERS,
    "templates:read": _ALL,
    "topics:manage": _MAKERS,
    "topics:read": _ALL,
    "users:manage": _ADMINS,
    "users:read": _ALL,
    "workspace:manage": _ADMINS,
    "workspace:read": _ALL,
}
SCOPES: Final = frozenset({FULL, *PERMISSIONS})
# Those that some call of the API asks for by now; only they are offered to people who make a key.
OFFERED: Final = (
    FULL,
    "approvals:act",
    "approvals:manage",
    "approvals:read",
    "automations:manage",
    "automations:publish",
    "automations:read",
    "contacts:manage",
    "contacts:read",
    "events:write",
    "properties:manage",
    "properties:read",
    "runs:act",
    "runs:read",
    "senders:manage",
    "senders:read",
    "sends:read",
    "templates:manage",
    "templates:read",
    "topics:manage",
    "topics:read",
    "workspace:manage",
    "workspace:read",
)


def may(role: str, permission: str) -> bool:
    """Return whether `role` holds `permission`; an unknown permission raises KeyError."""
    return role in PERMISSIONS[permission]


def covers(scopes: Collection[str], permission: str) -> bool:
    """Return whether a key with `scopes` may do `permission`. `manage` does not imply `read`."""
    if permission not in PERMISSIONS:
        raise KeyError(permission)
    return FULL in scopes or permission in scopes
