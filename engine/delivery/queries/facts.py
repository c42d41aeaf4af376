"""What the walker and the preview load for a template, set-wise: people, workspaces, templates."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import Workspace
from engine.audience.models import (
    BOOLEAN,
    BUILT_IN,
    NUMBER,
    Contact,
    ContactPropertyValue,
)
from engine.delivery.compose.render import Source
from engine.delivery.models import Template


@dataclass(frozen=True)
class PersonFacts:
    """A contact for a template. gone: deleted meanwhile, so nothing may be sent to it.

    unsubscribed: opted out of all marketing mail.
    """

    contact: Mapping[str, Any]
    properties: Mapping[str, Any]
    gone: bool
    unsubscribed: bool


def people(session: Session, contact_ids: Collection[int]) -> dict[int, PersonFacts]:
    """Return the facts of contacts by row id, deleted ones included; two queries."""
    if not contact_ids:
        return {}
    # Columns, not rows of the mapper: this is read for every mail that leaves.
    rows = session.execute(
        select(
            Contact.id,
            Contact.public_id,
            Contact.email,
            Contact.external_id,
            Contact.first_name,
            Contact.last_name,
            Contact.language,
            Contact.timezone,
            Contact.source,
            Contact.deleted_at,
            Contact.unsubscribed_at,
        ).where(Contact.id.in_(contact_ids))
    ).all()
    kept = ContactPropertyValue
    values = session.execute(
        select(kept.contact_id, kept.key, kept.type, kept.text, kept.number, kept.boolean).where(
            kept.contact_id.in_(contact_ids), kept.key.not_in(BUILT_IN)
        )
    )
    properties: dict[int, dict[str, Any]] = {row.id: {} for row in rows}
    for value in values:
        properties[value.contact_id][value.key] = native(value)
    return {row.id: _person(row, properties[row.id]) for row in rows}


def workspace_variables(session: Session, workspace_ids: Collection[int]) -> dict[int, Any]:
    """Return what `workspace.*` reads, by workspace row id."""
    found = session.execute(
        select(
            Workspace.id,
            Workspace.public_id,
            Workspace.name,
            Workspace.timezone,
            Workspace.language,
        ).where(Workspace.id.in_(workspace_ids))
    )
    return {
        row_id: {"id": public_id, "name": name, "timezone": timezone, "language": language}
        for row_id, public_id, name, timezone, language in found
    }


def template_versions(session: Session, template_ids: Collection[int]) -> dict[int, int]:
    """Return the version of each template, deleted ones included: their queued mail still goes."""
    found = session.execute(
        select(Template.id, Template.version).where(Template.id.in_(template_ids))
    )
    return dict(found.all())


def template_sources(
    session: Session, template_ids: Collection[int]
) -> dict[tuple[int, int], Source]:
    """Return the texts of templates by (row id, version)."""
    if not template_ids:
        return {}
    found = session.execute(
        select(
            Template.id,
            Template.version,
            Template.subject,
            Template.rendered_html,
            Template.text,
        ).where(Template.id.in_(template_ids))
    )
    return {
        (row_id, version): Source(subject, html, text)
        for row_id, version, subject, html, text in found
    }


def _person(row: Any, properties: Mapping[str, Any]) -> PersonFacts:
    contact = {
        "id": row.public_id,
        "email": row.email,
        "external_id": row.external_id,
        "first_name": row.first_name,
        "last_name": row.last_name,
        "language": row.language,
        "timezone": row.timezone,
        "source": row.source,
    }
    return PersonFacts(
        contact,
        properties,
        gone=row.deleted_at is not None,
        unsubscribed=row.unsubscribed_at is not None,
    )


def native(value: Any) -> Any:
    """Return a value as Liquid compares it: numbers and truth as such, else text."""
    if value.type == NUMBER and value.number is not None:
        whole = value.number.is_integer()
        return int(value.number) if whole else value.number
    if value.type == BOOLEAN and value.boolean is not None:
        return value.boolean
    return value.text
