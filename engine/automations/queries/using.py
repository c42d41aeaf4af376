"""Which automations use something that somebody is about to change or delete."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Text, cast, literal, select, union_all
from sqlalchemy.orm import Session

from engine.automations.models import DRAFT, Automation, AutomationRevision, AutomationStep

IN_DRAFT: Final = "draft"
LIVE: Final = "live"


@dataclass(frozen=True)
class Use:
    """An automation that names the thing. where: in its draft, or live (the revision in force)."""

    automation_id: str
    name: str
    status: str
    where: str


def using(session: Session, workspace_id: int, public_id: str) -> Sequence[Use]:
    """Return the automations that name a thing, drafts and revisions in force; one statement.

    An automation with both stands twice. A public id is random, so finding it in the text of a
    configuration means that it is named there.
    """
    row, step, revision = Automation, AutomationStep, AutomationRevision
    shown = (row.public_id, row.name, row.status)
    mine = (row.workspace_id == workspace_id, row.deleted_at.is_(None))
    drafts = select(*shown, literal(IN_DRAFT).label("where_used")).where(
        *mine,
        select(step.id)
        .where(
            step.workspace_id == workspace_id,
            step.automation_id == row.id,
            cast(step.config, Text).contains(public_id, autoescape=True),
        )
        .exists(),
    )
    live = (
        select(*shown, literal(LIVE).label("where_used"))
        .join(
            revision,
            (revision.id == row.revision_id) & (revision.workspace_id == row.workspace_id),
        )
        .where(
            *mine,
            row.status != DRAFT,
            cast(revision.document, Text).contains(public_id, autoescape=True),
        )
    )
    found = session.execute(union_all(live, drafts)).all()
    return sorted((Use(*each) for each in found), key=lambda use: (use.name, use.automation_id))
