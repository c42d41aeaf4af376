"""Templates: judged, laid out and tried when they are saved, so that sending finds them whole."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.core import audit
from engine.core.ids import new_public_id
from engine.core.outcome import Refused, invalid, missing
from engine.delivery.compose.liquid import Broken, parse
from engine.delivery.compose.render import (
    Compiled,
    Flaw,
    MailData,
    Source,
    compile_source,
    mended,
    missing_variables,
    render,
)
from engine.delivery.links import Links
from engine.delivery.models import Template
from engine.delivery.queries import facts
from engine.delivery.queries.templates import TemplateRow, template_row
from engine.delivery.service.judging import (
    LONGEST_BODY,
    LONGEST_SUBJECT,
    SAMPLE,
    TemplateInput,
    judged,
)


@dataclass(frozen=True)
class Preview:
    """A template rendered for one contact.

    missing: variables that rendered empty; variables: all paths that the template reads.
    """

    subject: str
    html: str
    text: str
    missing: tuple[str, ...]
    variables: tuple[str, ...] = ()


def create_template(
    session: Session, workspace_id: int, given: TemplateInput, actor: audit.Actor, at: datetime
) -> TemplateRow | Refused:
    """Create a template.

    Refused: invalid, with pointer /name, /subject, /html, /mjml, /text or /purpose; a text
    that does not parse or never ends is `template_broken` with message, line (from 1) and column.
    """
    columns = judged(given, at)
    if isinstance(columns, Refused):
        return columns
    row = Template(
        workspace_id=workspace_id,
        public_id=new_public_id(),
        version=1,
        created_at=at,
        **columns,
    )
    session.add(row)
    session.flush()
    _audit(session, workspace_id, row.public_id, "template.created", actor, at)
    return template_row(row)


def update_template(
    session: Session,
    workspace_id: int,
    public_id: str,
    given: TemplateInput,
    actor: audit.Actor,
    at: datetime,
    expected_version: int | None = None,
) -> TemplateRow | Refused:
    """Replace a template; see `create_template`.

    expected_version: refuse with `version_changed` where another one is stored.
    """
    row = _row(session, workspace_id, public_id)
    if row is None:
        return missing("template_not_found")
    columns = judged(given, at)
    if isinstance(columns, Refused):
        return columns
    held = row.version if expected_version is None else expected_version
    landed = session.execute(
        update(Template)
        .where(
            Template.workspace_id == workspace_id,
            Template.id == row.id,
            Template.version == held,
            Template.deleted_at.is_(None),
        )
        .values(version=held + 1, **columns)
        .returning(Template.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if landed is None:
        return Refused("version_changed")
    session.refresh(row)
    _audit(session, workspace_id, public_id, "template.updated", actor, at)
    return template_row(row)


def delete_template(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete a template softly: queued mail still goes out, new mail finds it missing."""
    # One statement: of two at the same moment one deletes, and one line stands in the audit log.
    landed = session.execute(
        update(Template)
        .where(
            Template.workspace_id == workspace_id,
            Template.public_id == public_id,
            Template.deleted_at.is_(None),
        )
        .values(deleted_at=at)
        .returning(Template.id)
        .execution_options(synchronize_session="fetch")
    ).scalar()
    if landed is None:
        return missing("template_not_found")
    _audit(session, workspace_id, public_id, "template.deleted", actor, at)
    return None


def preview_template(
    session: Session,
    workspace_id: int,
    public_id: str,
    at: datetime,
    links: Links,
    contact_public_id: str | None = None,
) -> Preview | Refused:
    """Render a template for a contact, or for a sample person; the same code as the real send.

    links: of the installation; what a preview shows of them looks real and acts on nobody.
    """
    row = _row(session, workspace_id, public_id)
    if row is None:
        return missing("template_not_found")
    source = Source(row.subject, row.rendered_html, row.text)
    return preview_source(session, workspace_id, source, at, links, contact_public_id)


def preview_source(
    session: Session,
    workspace_id: int,
    source: Source,
    at: datetime,
    links: Links,
    contact_public_id: str | None = None,
) -> Preview | Refused:
    """Render texts as they would be stored; see `preview_template`."""
    data = _data(session, workspace_id, contact_public_id, links)
    if data is None:
        return missing("contact_not_found")
    compiled = compile_source(source)
    if isinstance(compiled, Flaw):
        return compiled.broken.refused(f"/{compiled.part}")
    mail = render(compiled, data, at)
    if isinstance(mail, Flaw):
        return mail.broken.refused(f"/{mail.part}")
    empty = missing_variables(compiled, data)
    return Preview(mail.subject, mail.html, mail.text, empty, compiled.variables)


def check_subject(subject: str, pointer: str) -> Refused | None:
    """Return why a subject (for example a step's override) cannot be used, or None."""
    if len(subject) > LONGEST_SUBJECT:
        return invalid("too_long", pointer, limit=LONGEST_SUBJECT)
    if mended(subject) != subject:
        return invalid("bad_character", pointer)
    parsed = parse(subject)
    if isinstance(parsed, Broken):
        return parsed.refused(pointer)
    return None


def _data(
    session: Session, workspace_id: int, contact: str | None, links: Links
) -> MailData | None:
    shown = {"unsubscribe_url": links.unsubscribe_preview()}
    workspace = facts.workspace_variables(session, [workspace_id])[workspace_id]
    if contact is None:
        return MailData(contact=SAMPLE, workspace=workspace, links=shown)
    row_id = session.scalar(
        select(Contact.id).where(
            Contact.workspace_id == workspace_id,
            Contact.public_id == contact,
            Contact.deleted_at.is_(None),
        )
    )
    if row_id is None:
        return None
    person = facts.people(session, [row_id])[row_id]
    return MailData(person.contact, person.properties, workspace, links=shown)


def _row(session: Session, workspace_id: int, public_id: str) -> Template | None:
    return session.scalar(
        select(Template).where(
            Template.workspace_id == workspace_id,
            Template.public_id == public_id,
            Template.deleted_at.is_(None),
        )
    )


def _audit(
    session: Session,
    workspace_id: int,
    public_id: str,
    action: str,
    actor: audit.Actor,
    at: datetime,
) -> None:
    audit.record(session, audit.Subject(workspace_id, "template", public_id), action, actor, at)


__all__ = [
    "LONGEST_BODY",
    "SAMPLE",
    "Compiled",
    "Preview",
    "TemplateInput",
    "check_subject",
    "create_template",
    "delete_template",
    "preview_source",
    "preview_template",
    "update_template",
]
