"""Publishing: the draft of a live automation becomes its next revision (decisions A8, A9)."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from engine.automations import entries, holding, lifecycle, moving
from engine.automations.document import Document, read_document
from engine.automations.models import DRAFT, Automation
from engine.automations.service.finding import draft_document, find, lock, subject_of
from engine.automations.service.freezing import (
    answer_requests,
    checked,
    content_in_force,
    freeze,
)
from engine.core import audit
from engine.core.audit import Actor, Scalar
from engine.core.db import JsonObject
from engine.core.outcome import Refused, missing

STAY: Final = "stay"
MOVE: Final = "move"
PEOPLE_INSIDE: Final = (STAY, MOVE)


@dataclass(frozen=True)
class Published:
    """What a publish did. revision: number of the one in force now; moved: people who go on in it;

    stayed: people inside who go on in an older one. new: whether anything was published at all;
    reactivated: whether the trigger changed, which makes it a new activation (decision A9).
    """

    revision: int
    moved: int
    stayed: int
    new: bool
    reactivated: bool


def publish(
    session: Session,
    workspace_id: int,
    public_id: str,
    people_inside: str,
    actor: Actor,
    at: datetime,
    version: int | None = None,
    answer: str | None = None,
) -> Published | Refused:
    """Freeze the draft as a revision and put it in force; the status stays what it is.

    people_inside: `stay` (everybody inside goes on in the old revision) or `move` (whoever waits
    at a step that is still there goes on in the new one). Refused while a draft (`illegal_edge`),
    where it could not go live (`no_steps`, `invalid_trigger_config`, `check_failed`), and where
    somebody else published at the same moment (`lost_race`). A draft that says what is in force
    already is recorded only. version: the ETag of the draft whose effect was shown; another one is
    Refused("stale"). answer: words to whoever asked for it.
    """
    found = find(session, workspace_id, public_id)
    if found is None:
        return missing("automation_not_found")
    seen = (found.status, found.revision_id, found.draft_version)
    row = lock(session, found)
    if row is None:
        return missing("automation_not_found")
    if (row.status, row.revision_id, row.draft_version) != seen:
        return Refused("lost_race")
    if version is not None and row.draft_version != version:
        return Refused("stale")
    if row.status == DRAFT:
        return Refused("illegal_edge")
    content = draft_document(session, row)
    done = _publish(session, row, content, people_inside, actor, at)
    if isinstance(done, Published):
        answer_requests(session, row, content, answer, actor, at)
    return done


def _publish(
    session: Session,
    row: Automation,
    content: JsonObject,
    people_inside: str,
    actor: Actor,
    at: datetime,
) -> Published | Refused:
    in_force = content_in_force(session, row)
    if in_force is not None and in_force[1] == content:
        return _record(session, row, in_force[0], actor, at)
    document = read_document(content)
    if isinstance(document, Refused):
        return document
    return _put_in_force(session, row, content, document, people_inside, actor, at)


def _record(
    session: Session, row: Automation, number: int, actor: Actor, at: datetime
) -> Published:
    details: dict[str, Scalar] = {"revision": number, "applied": "recorded", "no_op": True}
    audit.record(session, subject_of(row), lifecycle.PUBLISHED, actor, at, details)
    inside = holding.count_inside(session, row.workspace_id, row.id)
    return Published(number, 0, inside, new=False, reactivated=False)


def _put_in_force(
    session: Session,
    row: Automation,
    content: JsonObject,
    document: Document,
    people_inside: str,
    actor: Actor,
    at: datetime,
) -> Published | Refused:
    ask = checked(session, row, document, row.status)
    refused = lifecycle.unfit(ask)
    if refused is not None:
        return refused
    trigger = (document.trigger_type, document.trigger_config)
    changed = trigger != (row.trigger_type, row.trigger_config)
    if entries.limits(document.reentry) and not entries.limits(row.reentry):
        entries.remember(session, row.workspace_id, row.id)
    frozen = replace(freeze(session, row, content, document, actor, at), trigger_changed=changed)
    moved = 0
    if people_inside == MOVE:
        moved = moving.move_people(session, row, frozen.revision_id, document.graph, at)
    stayed = holding.count_inside(session, row.workspace_id, row.id) - moved
    counts: dict[str, Scalar] = {"people_inside": people_inside, "moved": moved, "stayed": stayed}
    ask = replace(ask, publish=True, frozen=replace(frozen, counts=counts))
    outcome = lifecycle.move(session, row.id, ask, actor, at)
    if isinstance(outcome, Refused):
        return outcome
    if changed:
        details = {"revision": frozen.number, **counts}
        audit.record(session, subject_of(row), lifecycle.PUBLISHED, actor, at, details)
    return Published(frozen.number, moved, stayed, new=True, reactivated=changed)
