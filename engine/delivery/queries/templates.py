"""Reads of templates, and the facts an automation's e-mail step needs (facts 1.11)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Executable, String, func, select
from sqlalchemy.orm import Session

from engine.core.db import (
    Id,
    Prepared,
    among_bound,
    many,
    older,
    packed,
    rows_table,
    scope_of,
    table_of,
    within_scope,
)
from engine.core.ids import write_cursor
from engine.delivery.models import MARKETING, Sender, Template


@dataclass(frozen=True)
class TemplateRow:
    """A template as people wrote it. row_id stays inside; public_id is the `id`."""

    row_id: int
    public_id: str
    name: str
    subject: str
    html: str | None
    mjml: str | None
    text: str | None
    purpose: str
    allow_repeat: bool | None
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class TemplateFacts:
    """What a step asks of a template; has_html: there is something to send."""

    row_id: int
    public_id: str
    name: str
    subject: str
    purpose: str
    allow_repeat: bool | None
    has_html: bool


@dataclass(frozen=True)
class SenderFacts:
    """The default sender of a workspace."""

    email: str
    name: str
    reply_to: str | None


@dataclass(frozen=True)
class MailFacts:
    """templates: by (workspace row, template public id); senders: the default one by workspace."""

    templates: Mapping[tuple[int, str], TemplateFacts]
    senders: Mapping[int, SenderFacts]


def get_template(session: Session, workspace_id: int, public_id: str) -> TemplateRow | None:
    """Return a template that is not deleted, or None."""
    row = session.scalar(
        select(Template).where(
            Template.workspace_id == workspace_id,
            Template.public_id == public_id,
            Template.deleted_at.is_(None),
        )
    )
    return None if row is None else template_row(row)


def page_templates(
    session: Session, workspace_id: int, after: str | None = None, limit: int = 50
) -> tuple[list[TemplateRow], str | None]:
    """Return a page of templates, newest first, and the cursor of the next page."""
    query = select(Template).where(
        Template.workspace_id == workspace_id, Template.deleted_at.is_(None)
    )
    query = query.where(older(Template.id, after))
    found = session.scalars(query.order_by(Template.id.desc()).limit(limit + 1)).all()
    rows = [template_row(row) for row in found[:limit]]
    return rows, write_cursor(rows[-1].row_id) if len(found) > limit else None


def template_names(
    session: Session, workspace_id: int, public_ids: Collection[str]
) -> dict[str, str]:
    """Return the names of templates by public id, in one query; deleted and unknown ones lack."""
    if not public_ids:
        return {}
    found = session.execute(
        select(Template.public_id, Template.name).where(
            Template.workspace_id == workspace_id,
            Template.public_id.in_(public_ids),
            Template.deleted_at.is_(None),
        )
    )
    return dict(found.all())


def newest_names(session: Session, workspace_id: int, limit: int) -> list[tuple[str, str]]:
    """Return public id and name of the newest templates, to choose from; no texts are read."""
    found = session.execute(
        select(Template.public_id, Template.name)
        .where(Template.workspace_id == workspace_id, Template.deleted_at.is_(None))
        .order_by(Template.id.desc())
        .limit(limit)
    )
    return [(row.public_id, row.name) for row in found]


def without_way_out(
    session: Session, workspace_id: int, public_ids: Collection[str]
) -> frozenset[str]:
    """Return which templates are for marketing and never mention `unsubscribe_url` (C13)."""
    if not public_ids:
        return frozenset()
    row = Template
    text = func.coalesce(row.text, "")
    found = session.scalars(
        select(row.public_id).where(
            row.workspace_id == workspace_id,
            row.public_id.in_(public_ids),
            row.deleted_at.is_(None),
            row.purpose == MARKETING,
            ~row.rendered_html.contains("unsubscribe_url"),
            ~text.contains("unsubscribe_url"),
        )
    )
    return frozenset(found)


def mail_facts(session: Session, keys: Collection[tuple[int, str]]) -> MailFacts:
    """Return what the e-mail steps of a batch need, in two queries.

    keys: (workspace row id, template public id). A deleted or foreign template is absent, and so
    is a workspace without a default sender.
    """
    if not keys:
        return MailFacts({}, {})
    workspaces = {workspace_id for workspace_id, _ in keys}
    return MailFacts(_templates(session, keys), _default_senders(session, workspaces))


def _templates(
    session: Session, keys: Collection[tuple[int, str]]
) -> dict[tuple[int, str], TemplateFacts]:
    rows = [{"workspace_id": place, "public_id": public_id} for place, public_id in keys]
    asked = {"rows": packed(session, rows), "scope": scope_of(session)}
    found = _TEMPLATES.run(session, **asked).all()
    return {
        (row.workspace_id, row.public_id): TemplateFacts(
            row.id,
            row.public_id,
            row.name,
            row.subject,
            row.purpose,
            row.allow_repeat,
            has_html=bool(row.has_html),
        )
        for row in found
    }


def _prepare_templates(dialect: str) -> Executable:
    table = table_of(Template)
    row, rows = table.c, rows_table(dialect, {"workspace_id": Id, "public_id": String()})
    named = (rows.c.workspace_id == row.workspace_id) & (rows.c.public_id == row.public_id)
    return (
        select(
            row.workspace_id,
            row.id,
            row.public_id,
            row.name,
            row.subject,
            row.purpose,
            row.allow_repeat,
            (func.length(row.rendered_html) > 0).label("has_html"),
        )
        .join_from(table, rows, named)
        .where(within_scope(row.workspace_id), row.deleted_at.is_(None))
    )


_TEMPLATES: Final = Prepared(_prepare_templates)


def _default_senders(session: Session, workspaces: Collection[int]) -> dict[int, SenderFacts]:
    asked = {"ids": many(session, workspaces), "scope": scope_of(session)}
    found = _SENDERS.run(session, **asked).all()
    return {
        workspace_id: SenderFacts(email, name, reply_to)
        for workspace_id, email, name, reply_to in found
    }


def _prepare_senders(dialect: str) -> Executable:
    row = table_of(Sender).c
    return select(row.workspace_id, row.email, row.name, row.reply_to).where(
        among_bound(dialect, row.workspace_id), within_scope(row.workspace_id), row.is_default
    )


_SENDERS: Final = Prepared(_prepare_senders)


def template_row(row: Template) -> TemplateRow:
    """Return the frozen form of a template."""
    return TemplateRow(
        row_id=row.id,
        public_id=row.public_id,
        name=row.name,
        subject=row.subject,
        html=row.html,
        mjml=row.mjml,
        text=row.text,
        purpose=row.purpose,
        allow_repeat=row.allow_repeat,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
