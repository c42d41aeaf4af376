"""What the unsubscribe link of a mail leads to: who stands behind it, and the opt-out itself."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, select
from sqlalchemy.orm import Session, aliased

from engine.accounts.models import Workspace
from engine.audience import service as audience
from engine.audience.models import Contact
from engine.audience.service.opting_out import PUBLIC_EMAIL_LINK
from engine.core.outcome import Refused
from engine.delivery.links import UnsubscribeToken


@dataclass(frozen=True)
class LinkedWorkspace:
    """The workspace that a link belongs to; row_id stays inside."""

    row_id: int
    name: str


@dataclass(frozen=True)
class LinkedPerson:
    """The person that a link belongs to, as far as its page needs it.

    unsubscribed: no marketing mail goes to the address, whoever has it by now.
    """

    language: str | None
    unsubscribed: bool


def linked_workspace(session: Session, token: UnsubscribeToken) -> LinkedWorkspace | None:
    """Return the workspace of a link; asked before the session is narrowed to it."""
    row = session.execute(
        select(Workspace.id, Workspace.name).where(Workspace.public_id == token.workspace)
    ).first()
    return None if row is None else LinkedWorkspace(row.id, row.name)


def linked_person(
    session: Session, workspace_id: int, token: UnsubscribeToken
) -> LinkedPerson | None:
    """Return the person of a link, a deleted one included, or None."""
    since = aliased(Contact)
    reached = exists().where(
        since.workspace_id == workspace_id,
        since.email == Contact.email,
        since.deleted_at.is_(None),
        since.unsubscribed_at.is_(None),
    )
    row = session.execute(
        select(Contact.language, Contact.unsubscribed_at, reached.label("reached")).where(
            Contact.workspace_id == workspace_id, Contact.public_id == token.contact
        )
    ).first()
    if row is None:
        return None
    return LinkedPerson(row.language, row.unsubscribed_at is not None and not row.reached)


def unsubscribe_by_link(
    session: Session, workspace_id: int, token: UnsubscribeToken, at: datetime
) -> audience.OptedOut | Refused:
    """End all marketing mail to the person of a link. Refused: contact_not_found."""
    return audience.opt_out(session, workspace_id, token.contact, PUBLIC_EMAIL_LINK, at, token.send)
