"""Secrets for tests, made through the verb of accounts."""

from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from engine.accounts.service.secrets import SIGNING, CreatedSecret, create_secret
from engine.core.audit import Actor
from tests.factories.accounts import AT

ACTOR: Final = Actor("user:tester")


def secret(
    session: Session,
    workspace_id: int,
    name: str = "Hook",
    kind: str = SIGNING,
    value: str | None = None,
    at: datetime = AT,
) -> CreatedSecret:
    """Return a stored secret; a signing one without a value gets a random one."""
    made = create_secret(session, workspace_id, name, kind, value, ACTOR, at)
    assert isinstance(made, CreatedSecret), made
    return made
