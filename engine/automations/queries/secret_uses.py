"""Which automations need a secret that somebody is about to delete."""

from collections.abc import Sequence

from sqlalchemy import Text, cast, or_, select
from sqlalchemy.orm import Session

from engine.automations.models import DRAFT, Automation, AutomationRevision, AutomationStep


def using_secret(session: Session, workspace_id: int, public_id: str) -> Sequence[str]:
    """Return the names of automations whose draft or revision in force needs it; one statement.

    A public id is random, so where the text of a configuration holds it, it is named.
    """
    row, step, revision = Automation, AutomationStep, AutomationRevision
    drafted = select(step.id).where(
        step.workspace_id == workspace_id,
        step.automation_id == row.id,
        cast(step.config, Text).contains(public_id, autoescape=True),
    )
    live = select(revision.id).where(
        revision.workspace_id == workspace_id,
        revision.id == row.revision_id,
        row.status != DRAFT,
        cast(revision.document, Text).contains(public_id, autoescape=True),
    )
    found = session.scalars(
        select(row.name)
        .where(
            row.workspace_id == workspace_id,
            row.deleted_at.is_(None),
            or_(drafted.exists(), live.exists()),
        )
        .order_by(row.name, row.id)
    )
    return found.all()
