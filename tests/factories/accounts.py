"""Rows of accounts for tests: a workspace, its people, its keys. Passwords cost next to nothing."""

import itertools
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Final

from argon2 import PasswordHasher
from sqlalchemy.orm import Session

from engine.accounts.models import OWNER, ApiKey, Membership, User, Workspace
from engine.accounts.permissions import FULL
from engine.accounts.service.sessions import hash_token
from engine.core.ids import new_public_id

PASSWORD: Final = "correct horse battery staple"
AT: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
_NUMBERS: Final = itertools.count(1)


def workspace(session: Session, name: str = "Acme", **columns: Any) -> Workspace:
    """Return a new workspace; columns override what is not said."""
    row = Workspace(**{"public_id": new_public_id(), "name": name, "created_at": AT, **columns})
    session.add(row)
    session.flush()
    return row


def user(
    session: Session,
    workspace_id: int,
    role: str = OWNER,
    email: str | None = None,
    password: str = PASSWORD,
) -> User:
    """Return a new person who is a member of the workspace."""
    row = User(
        public_id=new_public_id(),
        email=email or f"{role}{next(_NUMBERS)}@acme.example",
        password_hash=_CHEAP.hash(password),
        created_at=AT,
    )
    session.add(row)
    session.flush()
    join(session, workspace_id, row, role)
    return row


def join(session: Session, workspace_id: int, person: User, role: str = OWNER) -> Membership:
    """Make a person a member of one more workspace."""
    row = Membership(workspace_id=workspace_id, user_id=person.id, role=role, created_at=AT)
    session.add(row)
    session.flush()
    return row


def api_key(
    session: Session,
    workspace_id: int,
    scopes: Collection[str] = (FULL,),
    secret: str | None = None,
    **columns: Any,
) -> tuple[ApiKey, str]:
    """Return a new key and its secret."""
    secret = secret or f"sw_{new_public_id()}"
    row = ApiKey(
        **{
            "workspace_id": workspace_id,
            "public_id": new_public_id(),
            "name": "key",
            "prefix": secret[:8],
            "key_hash": hash_token(secret),
            "scopes": sorted(scopes),
            "created_by": "system:test",
            "created_at": AT,
            **columns,
        }
    )
    session.add(row)
    session.flush()
    return row, secret
