"""One frozen revision of an automation."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.models import Automation, AutomationRevision
from engine.automations.queries.automations import RevisionRow
from engine.core.ids import is_public_id


def get_revision(
    session: Session, workspace_id: int, public_id: str, number: int
) -> RevisionRow | None:
    """Return the revision `number` of an automation; None where either is unknown or deleted."""
    revision, row = AutomationRevision, Automation
    if not is_public_id(public_id):
        return None
    found = session.execute(
        select(revision, row.revision_id)
        .join(row, (row.id == revision.automation_id) & (row.workspace_id == revision.workspace_id))
        .where(
            row.workspace_id == workspace_id,
            row.public_id == public_id,
            row.deleted_at.is_(None),
            revision.number == number,
        )
    ).first()
    if found is None:
        return None
    frozen = found[0]
    return RevisionRow(
        frozen.public_id,
        frozen.number,
        frozen.document,
        frozen.created_by,
        frozen.created_at,
        frozen.id == found[1],
    )
