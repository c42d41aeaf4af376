"""The verbs on contacts: save (identity resolution, facts 3.1), update, delete.

One code path: a single contact is a batch of one. Contacts are written first, then their events are
recorded in one batch, so that a subscriber sees the whole write.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import update
from sqlalchemy.orm import Session

from engine.audience.inputs import ContactInput, ContactPatch, Mode, SavedContact
from engine.audience.models import Contact
from engine.audience.service import writing
from engine.audience.service.cleaning import clean_patch
from engine.audience.service.resolving import (
    Writing,
    answer,
    invalid_contact,
    plan,
    property_types,
    resolve,
    rewrite,
)
from engine.core import audit, events
from engine.core.ids import is_public_id
from engine.core.outcome import Refused, invalid, missing

DELETED: Final = "contact_deleted"


def save_contact(
    session: Session,
    workspace_id: int,
    sent: ContactInput,
    mode: Mode,
    source: str,
    at: datetime,
) -> SavedContact | Refused:
    """Create the contact that `sent` names, or find it by e-mail, else by external id (facts 3.1).

    mode: strict refuses a known one (`already_exists`), upsert changes nothing, merge patches what
    is filled and differs. Refused: `invalid_contact` with problems; `identity_conflict` where the
    two keys name two contacts.
    """
    return save_contacts(session, workspace_id, [sent], mode, source, at)[0]


def save_contacts(
    session: Session,
    workspace_id: int,
    batch: Sequence[ContactInput],
    mode: Mode,
    source: str,
    at: datetime,
    *,
    start_automations: bool = True,
) -> list[SavedContact | Refused]:
    """Save many contacts as `save_contact` does one; the answers are in the order of `batch`.

    Two inputs that name the same person count as sent one after the other. start_automations: False
    for bulk writes that must start nothing (decision A2). At most some thousand at a time.
    """
    under_way = Writing(workspace_id, source, at, start_automations)
    resolve(session, under_way, batch, mode)
    events.record(session, under_way.happened, at)
    return answer(session, under_way, len(batch))


def update_contact(
    session: Session,
    workspace_id: int,
    public_id: str,
    patch: ContactPatch,
    source: str,
    at: datetime,
) -> SavedContact | Refused:
    """Change what `patch` names and nothing else; null clears (decision A1: clearing counts).

    Refused: `invalid_contact` with problems, `contact_not_found`, `identity_conflict` where another
    contact holds the new e-mail or external id.
    """
    change = clean_patch(patch, property_types(session, workspace_id))
    if isinstance(change, list):
        return invalid_contact(change)
    stored = _stored(session, workspace_id, public_id)
    if stored is None:
        return missing("contact_not_found")
    planned = plan(stored, change)
    if all(planned.fields[key] is None for key in writing.KEYS):
        return invalid("identity_missing", "/email")
    under_way = Writing(workspace_id, source, at)
    rewrite(session, under_way, {0: planned})
    events.record(session, under_way.happened, at)
    return answer(session, under_way, 1)[0]


def delete_contact(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete the contact softly: its keys are free at once, the row goes after 30 days (A3).

    Records `contact_deleted`, which ends its runs, and an audit line. Refused: contact_not_found.
    """
    stored = _stored(session, workspace_id, public_id)
    if stored is None:
        return missing("contact_not_found")
    session.execute(
        update(Contact)
        .where(Contact.workspace_id == workspace_id, Contact.id == stored.id)
        .values(deleted_at=at, updated_at=at)
        .execution_options(synchronize_session=False)
    )
    event = events.NewEvent(workspace_id, stored.id, DELETED, actor.name.split(":")[0], at)
    events.record(session, [event], at)
    subject = audit.Subject(workspace_id, "contact", public_id)
    audit.record(session, subject, "contact.deleted", actor, at)
    return None


def _stored(session: Session, workspace_id: int, public_id: str) -> writing.Stored | None:
    if not is_public_id(public_id):
        return None
    return writing.by_public_id(session, workspace_id, public_id)
