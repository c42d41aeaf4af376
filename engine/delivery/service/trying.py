"""Trying a template: unsaved text rendered as it would be sent, a test mail to oneself."""

from datetime import datetime

from sqlalchemy.orm import Session

from engine.core.outcome import Refused
from engine.delivery.compose.render import Source
from engine.delivery.links import Links
from engine.delivery.service.judging import TemplateInput, judged
from engine.delivery.service.templates import Preview, preview_source


def preview_input(
    session: Session,
    workspace_id: int,
    given: TemplateInput,
    contact_public_id: str | None,
    at: datetime,
    links: Links,
) -> Preview | Refused:
    """Render a template that is not saved, by the same code as the real send; writes nothing.

    contact_public_id None: a sample person. Refused as `create_template` refuses, with
    contact_not_found, and where the texts do not work for this very person.
    """
    columns = judged(given, at)
    if isinstance(columns, Refused):
        return columns
    source = Source(columns["subject"], columns["rendered_html"], columns["text"])
    return preview_source(session, workspace_id, source, at, links, contact_public_id)
