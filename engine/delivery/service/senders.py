"""Senders and sending domains, as far as set-up and the default sender need them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from engine.core import audit
from engine.core.ids import new_public_id
from engine.core.outcome import Refused, invalid, missing
from engine.core.text import normalise_email
from engine.delivery.compose.addresses import ascii_domain, is_one_line, split_address
from engine.delivery.models import Sender, SendingDomain
from engine.delivery.queries import senders as queries
from engine.delivery.queries.senders import DomainRow, SenderRow

_ATTEST: Final = "attest"
_LONGEST_NAME: Final = 200


@dataclass(frozen=True)
class SenderInput:
    """A sender to create. default: mail goes out from it where nothing else is said."""

    email: str
    name: str = ""
    reply_to: str | None = None
    default: bool = False


@dataclass(frozen=True)
class AttestedDomain:
    """A sending domain; created False: it was there already."""

    domain: DomainRow
    created: bool


@dataclass(frozen=True)
class CreatedSender:
    """A sender; created False: it was there already and was left as it is."""

    sender: SenderRow
    created: bool


def create_sender(
    session: Session, workspace_id: int, given: SenderInput, actor: audit.Actor, at: datetime
) -> CreatedSender | Refused:
    """Create a sender; the same address again answers the existing one (interface, set-up).

    The first sender of a workspace is its default; a new default takes the place of the old one.
    Refused: invalid with pointer /email, /name or /reply_to.
    """
    flaw = _flaw(given)
    if flaw is not None:
        return flaw
    email = normalise_email(given.email)
    existing = queries.sender_of(session, workspace_id, email)
    if existing is not None:
        if given.default and not existing.is_default:
            _make_default(session, workspace_id, existing.row_id)
            existing = queries.sender_of(session, workspace_id, email) or existing
        return CreatedSender(existing, created=False)
    default = given.default or queries.default_sender(session, workspace_id) is None
    if default:
        _clear_default(session, workspace_id)
    row = Sender(
        workspace_id=workspace_id,
        public_id=new_public_id(),
        email=email,
        name=given.name.strip(),
        reply_to=normalise_email(given.reply_to) if given.reply_to else None,
        is_default=default,
        created_at=at,
    )
    session.add(row)
    session.flush()
    subject = audit.Subject(workspace_id, "sender", row.public_id)
    audit.record(session, subject, "sender.created", actor, at, {"email": email})
    return CreatedSender(queries.sender_row(row), created=True)


def set_default_sender(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> SenderRow | Refused:
    """Make a sender the one mail goes out from by default."""
    sender = queries.get_sender(session, workspace_id, public_id)
    if sender is None:
        return missing("sender_not_found")
    if not sender.is_default:
        _make_default(session, workspace_id, sender.row_id)
        subject = audit.Subject(workspace_id, "sender", public_id)
        audit.record(session, subject, "sender.made_default", actor, at)
    return queries.get_sender(session, workspace_id, public_id) or sender


def update_sender(
    session: Session,
    workspace_id: int,
    public_id: str,
    given: SenderInput,
    actor: audit.Actor,
    at: datetime,
) -> SenderRow | Refused:
    """Replace what a sender says; `default` True makes it the default, False changes nothing."""
    flaw = _flaw(given)
    sender = queries.get_sender(session, workspace_id, public_id)
    if flaw is not None or sender is None:
        return flaw or missing("sender_not_found")
    email = normalise_email(given.email)
    other = queries.sender_of(session, workspace_id, email)
    if other is not None and other.public_id != public_id:
        return invalid("sender_exists", "/email")
    session.execute(
        update(Sender)
        .where(Sender.workspace_id == workspace_id, Sender.id == sender.row_id)
        .values(
            email=email,
            name=given.name.strip(),
            reply_to=normalise_email(given.reply_to) if given.reply_to else None,
        )
    )
    if given.default and not sender.is_default:
        _make_default(session, workspace_id, sender.row_id)
    subject = audit.Subject(workspace_id, "sender", public_id)
    audit.record(session, subject, "sender.updated", actor, at, {"email": email})
    session.expire_all()
    return queries.get_sender(session, workspace_id, public_id) or sender


def delete_sender(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete a sender; the default one stays while it is the default."""
    sender = queries.get_sender(session, workspace_id, public_id)
    if sender is None:
        return missing("sender_not_found")
    if sender.is_default:
        return Refused("sender_is_default")
    gone = session.execute(
        delete(Sender)
        .where(
            Sender.workspace_id == workspace_id,
            Sender.id == sender.row_id,
            Sender.is_default.is_(False),
        )
        .returning(Sender.id)
    ).scalar()
    if gone is None:
        return missing("sender_not_found")  # somebody else was first
    subject = audit.Subject(workspace_id, "sender", public_id)
    audit.record(session, subject, "sender.deleted", actor, at, {"email": sender.email})
    return None


def attest_domain(
    session: Session, workspace_id: int, domain: str, actor: audit.Actor, at: datetime
) -> AttestedDomain | Refused:
    """Note the owner's word that the workspace may send from `domain`; audited.

    A domain that is there already is answered as it is. Refused: invalid with pointer /domain.
    """
    name = ascii_domain(domain)
    if name is None or "." not in name:
        return invalid("domain_invalid", "/domain")
    existing = queries.domain_of(session, workspace_id, name)
    if existing is not None:
        return AttestedDomain(existing, created=False)
    row = SendingDomain(
        workspace_id=workspace_id,
        public_id=new_public_id(),
        domain=name,
        verified_by=_ATTEST,
        verified_at=at,
        created_at=at,
    )
    session.add(row)
    session.flush()
    subject = audit.Subject(workspace_id, "sending_domain", row.public_id)
    audit.record(session, subject, "sending_domain.attested", actor, at, {"domain": name})
    return AttestedDomain(queries.domain_row(row), created=True)


def delete_domain(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete a sending domain; audited."""
    found = queries.get_domain(session, workspace_id, public_id)
    if found is None:
        return missing("sending_domain_not_found")
    gone = session.execute(
        delete(SendingDomain)
        .where(SendingDomain.workspace_id == workspace_id, SendingDomain.id == found.row_id)
        .returning(SendingDomain.id)
    ).scalar()
    if gone is None:
        return missing("sending_domain_not_found")  # somebody else was first
    subject = audit.Subject(workspace_id, "sending_domain", public_id)
    audit.record(session, subject, "sending_domain.deleted", actor, at, {"domain": found.domain})
    return None


def _flaw(given: SenderInput) -> Refused | None:
    if split_address(given.email) is None:
        return invalid("email_invalid", "/email")
    if given.reply_to and split_address(given.reply_to) is None:
        return invalid("email_invalid", "/reply_to")
    if len(given.name) > _LONGEST_NAME or not is_one_line(given.name):
        return invalid("name_invalid", "/name")
    return None


def _make_default(session: Session, workspace_id: int, row_id: int) -> None:
    # Two statements: a unique index allows one default at any moment.
    _clear_default(session, workspace_id)
    session.execute(
        update(Sender)
        .where(Sender.workspace_id == workspace_id, Sender.id == row_id)
        .values(is_default=True)
    )


def _clear_default(session: Session, workspace_id: int) -> None:
    session.execute(
        update(Sender)
        .where(Sender.workspace_id == workspace_id, Sender.is_default)
        .values(is_default=False)
    )
