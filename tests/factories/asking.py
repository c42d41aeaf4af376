"""Requests for tests: somebody who may not asks somebody who may."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import Approval
from engine.automations import service
from engine.automations.service import requesting
from engine.automations.service.requesting import ACTIVATE, PUBLISH, Request
from engine.core.audit import Actor
from tests.factories import automations as make

EDITOR: Final = Actor("user:editor")
ADMIN: Final = Actor("user:admin")


def draft(session: Session, workspace_id: int, raw: dict[str, Any], at: datetime) -> str:
    """Return the public id of a new draft."""
    saved = service.create(session, workspace_id, raw, make.ACTOR, at)
    assert isinstance(saved, service.Saved), saved
    return saved.public_id


def change(
    session: Session, workspace_id: int, public_id: str, raw: dict[str, Any], at: datetime
) -> None:
    """Replace the draft of an automation."""
    seen = service.current(session, workspace_id, public_id)
    assert seen is not None
    saved = service.save(session, workspace_id, public_id, raw, seen.version, make.ACTOR, at)
    assert isinstance(saved, service.Saved), saved


def ask(
    session: Session,
    workspace_id: int,
    public_id: str,
    at: datetime,
    kind: str = ACTIVATE,
    actor: Actor = EDITOR,
    **more: Any,
) -> str:
    """Return the public id of a request that was taken."""
    wanted = Request(kind, **more)
    asked = requesting.ask_for(session, workspace_id, public_id, wanted, actor, at)
    assert isinstance(asked, str), asked
    return asked


def row_of(session: Session, public_id: str) -> Approval:
    """Return a request as it is stored."""
    return session.scalars(select(Approval).where(Approval.public_id == public_id)).one()


__all__ = ["ACTIVATE", "ADMIN", "EDITOR", "PUBLISH", "ask", "change", "draft", "row_of"]
