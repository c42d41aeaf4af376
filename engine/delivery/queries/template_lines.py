"""Templates as a list shows them: without their texts, which may be long."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.core.db import older
from engine.core.ids import write_cursor
from engine.delivery.models import Template


@dataclass(frozen=True)
class TemplateLine:
    """One template; written: html or mjml."""

    public_id: str
    name: str
    subject: str
    written: str
    purpose: str
    updated_at: datetime


def page_lines(
    session: Session, workspace_id: int, after: str | None = None, limit: int = 50
) -> tuple[list[TemplateLine], str | None]:
    """Return a page of templates, newest first, and the cursor of the next page."""
    row = Template
    found = session.execute(
        select(
            row.id,
            row.public_id,
            row.name,
            row.subject,
            row.mjml.is_not(None).label("is_mjml"),
            row.purpose,
            row.updated_at,
        )
        .where(row.workspace_id == workspace_id, row.deleted_at.is_(None))
        .where(older(row.id, after))
        .order_by(row.id.desc())
        .limit(limit + 1)
    ).all()
    lines = [
        TemplateLine(
            each.public_id,
            each.name,
            each.subject,
            "mjml" if each.is_mjml else "html",
            each.purpose,
            each.updated_at,
        )
        for each in found[:limit]
    ]
    return lines, write_cursor(found[limit - 1].id) if len(found) > limit else None
