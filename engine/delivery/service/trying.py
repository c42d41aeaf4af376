"""Trying a template: unsaved text rendered as it would be sent, a test mail to oneself."""

from datetime import datetime

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.core import audit
from engine.core.ids import new_public_id
from engine.core.outcome import Refused, missing
from engine.delivery import queries
from engine.delivery.compose.render import Source
from engine.delivery.links import Links
from engine.delivery.models import SERVICE
from engine.delivery.queries.limits import KIND_TEST
from engine.delivery.service.judging import TemplateInput, judged
from engine.delivery.service.requests import Queued, Withheld, request_many
from engine.delivery.service.sends import SendRequest
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


def send_test(
    session: Session,
    workspace_id: int,
    public_id: str,
    to: str,
    contact_public_id: str | None,
    actor: audit.Actor,
    at: datetime,
) -> Queued | Withheld | Refused:
    """Queue one mail of a saved template to a colleague, as a contact would read it; audited.

    to: an address that the caller knows to be the actor's own. contact_public_id None: of the
    reader only `contact.email` is known. Limits and the contact's opt-out do not hold for it; a
    suppressed address gets none. Refused: template_not_found, contact_not_found, no_sender.
    """
    template = queries.get_template(session, workspace_id, public_id)
    if template is None:
        return missing("template_not_found")
    contact = None
    if contact_public_id is not None:
        contact = audience.get_contact(session, workspace_id, contact_public_id)
        if contact is None:
            return missing("contact_not_found")
    sender = queries.default_sender(session, workspace_id)
    if sender is None:
        return Refused("no_sender")
    request = SendRequest(
        workspace_id=workspace_id,
        dedupe_key=f"test:{public_id}:{new_public_id()}",
        kind=KIND_TEST,
        contact_id=contact.row_id if contact else None,
        template_id=template.row_id,
        to_email=to,
        from_email=sender.email,
        from_name=sender.name,
        reply_to=sender.reply_to,
        purpose=SERVICE,
    )
    answer = request_many(session, [request], at)[request.dedupe_key]
    if isinstance(answer, Queued):
        subject = audit.Subject(workspace_id, "template", public_id)
        audit.record(session, subject, "template.tested", actor, at, {"to": to})
    return answer
