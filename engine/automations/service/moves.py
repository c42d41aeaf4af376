"""Moves between statuses: activate, pause, resume, revert; publish comes later."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from engine.automations import lifecycle
from engine.automations.document import read_document
from engine.automations.models import ACTIVE, DRAFT, Automation
from engine.automations.service.finding import draft_document, find, people_inside
from engine.automations.service.freezing import checked, freeze, resuming
from engine.core.audit import Actor
from engine.core.outcome import Problem, Recorded, Refused, Transitioned, missing


@dataclass(frozen=True)
class Wish:
    """What a transition asks for beside the status (interface.md). The last three come with B."""

    to: str
    resume: str | None = None
    start_afresh: bool = False
    cancel_inside: bool = False


def move(
    session: Session, workspace_id: int, public_id: str, wish: Wish, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Activate, pause, resume or revert. Activating a draft freezes it as a revision (A8)."""
    if wish.resume is not None:
        return _later("/resume", "resume_choice_not_built")
    if wish.start_afresh:
        return _later("/start_afresh", "start_afresh_not_built")
    if wish.cancel_inside:
        return _later("/cancel_inside", "cancel_inside_not_built")
    row = find(session, workspace_id, public_id)
    if row is None:
        return missing("automation_not_found")
    if wish.to == DRAFT:
        ask = lifecycle.Ask(DRAFT, inside=people_inside(session, workspace_id, row.id))
        return lifecycle.move(session, row.id, ask, actor, at)
    if wish.to != ACTIVE:
        return lifecycle.move(session, row.id, lifecycle.Ask(wish.to), actor, at)
    if row.status == DRAFT:
        return _activate(session, row, actor, at)
    return lifecycle.move(session, row.id, resuming(session, row, afresh=False), actor, at)


def publish(session: Session, workspace_id: int, public_id: str, stay_or_move: str) -> Refused:
    """Refuse in words: publishing over a live revision is not built yet."""
    if find(session, workspace_id, public_id) is None:
        return missing("automation_not_found")
    return _later("/people_inside", "publish_not_built", choice=stay_or_move)


def _activate(
    session: Session, row: Automation, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Freeze the draft and put it in force; a refusal leaves no revision behind."""
    content = draft_document(session, row)
    document = read_document(content)
    if isinstance(document, Refused):
        return document
    ask = checked(session, row, document)
    refused = lifecycle.unfit(ask)
    if refused is not None:
        return refused
    with session.begin_nested() as savepoint:
        ask = replace(ask, frozen=freeze(session, row, content, document, actor, at))
        outcome = lifecycle.move(session, row.id, ask, actor, at)
        if not isinstance(outcome, Transitioned):
            savepoint.rollback()
    return outcome


def _later(pointer: str, code: str, **params: str) -> Refused:
    return Refused(code, "invalid", (Problem(pointer, code, params),), params)
