"""The verbs on contacts: save (identity resolution, facts 3.1), update, delete.

One code path: a single contact is a batch of one. Contacts are written first, then their events are
recorded in one batch, so that a subscriber sees the whole write.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

from sqlalchemy import update
from sqlalchemy.orm import Session

from engine.audience.inputs import ContactInput, ContactPatch, Mode, SavedContact, ValueChange
from engine.audience.models import Contact
from engine.audience.service import marks, writing
from engine.audience.service.cleaning import Change, clean_patch
from engine.audience.service.resolving import (
    Writing,
    answer,
    invalid_contact,
    plan,
    property_types,
    resolve,
    rewrite,
)
from engine.audience.service.writing import Rewrite
from engine.core import audit, events
from engine.core.ids import is_public_id
from engine.core.outcome import Problem, Refused, invalid, missing

DELETED: Final = "contact_deleted"
KeyT = TypeVar("KeyT")


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
    return answer(session, under_way, range(len(batch)))


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
    change = clean_patch(patch, property_types(session, workspace_id, [patch]))
    if isinstance(change, list):
        return invalid_contact(change)
    if not is_public_id(public_id):
        return missing("contact_not_found")
    stored = writing.by_public_id(session, workspace_id, public_id, change)
    if stored is None:
        return missing("contact_not_found")
    under_way = Writing(workspace_id, source, at)
    _change(session, under_way, {stored.id: plan(stored, change)})
    return answer(session, under_way, [stored.id])[0]


def update_contacts(
    session: Session,
    workspace_id: int,
    patches: Mapping[int, ContactPatch],
    source: str,
    at: datetime,
    causes: Mapping[int, events.Cause] | None = None,
) -> Mapping[int, tuple[ValueChange, ...] | Refused]:
    """Change many contacts as `update_contact` does one; patches and answers by contact row id.

    An answer says what really changed; () where everything stood as asked. A handful of statements
    for all of them; a patch that is shared by many people is judged once. causes: what made the
    changes happen, by contact row id.
    """
    distinct = {id(patch): patch for patch in patches.values()}
    definitions = property_types(session, workspace_id, distinct.values())
    judged = {key: clean_patch(patch, definitions) for key, patch in distinct.items()}
    gone = missing("contact_not_found")
    changes: dict[int, Change] = {}
    answers: dict[int, tuple[ValueChange, ...] | Refused] = {}
    for row_id, patch in patches.items():
        change = judged[id(patch)]
        if isinstance(change, list):
            answers[row_id] = invalid_contact(change)
        else:
            answers[row_id] = gone
            changes[row_id] = change
    found = writing.by_row_ids(session, workspace_id, changes)
    under_way = Writing(workspace_id, source, at, causes=causes or {})
    planned = {stored.id: plan(stored, changes[stored.id]) for stored in found}
    _change(session, under_way, planned)
    for row_id, outcome in under_way.outcomes.items():
        answers[row_id] = outcome if isinstance(outcome, Refused) else planned[row_id].changes
    return answers


def judge_patches(
    session: Session, workspace_id: int, patches: Mapping[KeyT, ContactPatch]
) -> Mapping[KeyT, Sequence[Problem]]:
    """Return what `update_contacts` would refuse each patch for now; sound ones are left out."""
    definitions = property_types(session, workspace_id, patches.values(), keep=False)
    judged = {key: clean_patch(patch, definitions) for key, patch in patches.items()}
    return {key: faults for key, faults in judged.items() if isinstance(faults, list)}


def _change(session: Session, under_way: Writing, planned: Mapping[int, Rewrite]) -> None:
    """Write what is planned, by contact row id, and record the events of the whole batch."""
    for row_id, each in planned.items():
        if all(each.fields[key] is None for key in writing.KEYS):
            under_way.outcomes[row_id] = invalid("identity_missing", "/email")
    sound = {key: each for key, each in planned.items() if key not in under_way.outcomes}
    rewrite(session, under_way, sound)
    events.record(session, under_way.happened, under_way.at)


def delete_contact(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete the contact softly: its keys are free at once, the row goes after 30 days (A3).

    Records `contact_deleted`, which ends its runs, and an audit line. Refused: contact_not_found.
    """
    if not is_public_id(public_id):
        return missing("contact_not_found")
    gone = session.execute(
        update(Contact)
        .where(
            Contact.workspace_id == workspace_id,
            Contact.public_id == public_id,
            Contact.deleted_at.is_(None),
        )
        .values(deleted_at=at, updated_at=at)
        .returning(Contact.id, Contact.email, Contact.unsubscribed_at)
        .execution_options(synchronize_session=False)
    ).first()
    if gone is None:
        return missing("contact_not_found")
    if gone.email is not None and gone.unsubscribed_at is not None:
        # It may have opted out under another address; this one leaves with it.
        marks.mark(session, workspace_id, gone.email, gone.unsubscribed_at)
    event = events.NewEvent(workspace_id, gone.id, DELETED, actor.name.split(":")[0], at)
    events.record(session, [event], at)
    subject = audit.Subject(workspace_id, "contact", public_id)
    audit.record(session, subject, "contact.deleted", actor, at)
    return None
