"""Mail templates by API: Liquid over HTML or MJML, tried before they are stored."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from engine.automations.service.discarding import discard_template
from engine.core.outcome import Refused, missing
from engine.delivery import queries, service
from engine.delivery.models import MARKETING, PURPOSES
from engine.delivery.queries import TemplateRow
from engine.delivery.service import TemplateInput
from engine.delivery.service.templates import LONGEST_BODY
from web.api.answers import etag, precondition
from web.api.area import Area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, In, Name, Out, Page, PageQuery, PublicId, example, one_of, shown
from web.api.messages import DELIVERY
from web.links.making import links

area: Final = Area("templates", "Mail templates in Liquid over HTML or MJML.", DELIVERY)
Subject = Annotated[str, Field(min_length=1, max_length=500)]
Source = Annotated[str, Field(max_length=LONGEST_BODY)]
_WRITTEN: Final = ("name", "subject", "html", "mjml", "text", "purpose", "allow_repeat")


class NewTemplate(In):
    """A template to create: html or mjml, one of the two. text: derived where it is left out."""

    name: Name
    subject: Subject
    html: Source | None = None
    mjml: Source | None = None
    text: Source | None = None
    purpose: one_of(*PURPOSES) = MARKETING  # type: ignore[valid-type]
    allow_repeat: bool | None = None

    model_config = example(
        name="Welcome",
        subject="Hello {{ contact.first_name }}",
        html="<p>Hello {{ contact.first_name }}</p>",
    )


class TemplateChange(In):
    """What changes; only the keys that are sent."""

    name: Name = Field(default_factory=str)
    subject: Subject = Field(default_factory=str)
    html: Source | None = None
    mjml: Source | None = None
    text: Source | None = None
    purpose: one_of(*PURPOSES) = MARKETING  # type: ignore[valid-type]
    allow_repeat: bool | None = None


class TemplateOut(Out):
    """A template as it was written."""

    id: str
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


class PreviewAsk(In):
    """For whom to render; a made-up person where it is left out."""

    contact_id: PublicId | None = None


class PreviewOut(Out):
    """The rendered mail. missing: variables that rendered empty."""

    subject: str
    html: str
    text: str
    missing: list[str]


@area.post("/templates", "templates:manage", {201: TemplateOut})
def create_template(call: Call, body: NewTemplate) -> Result:
    """Create a template; one that does not parse, or loops for ever, is refused."""
    data = TemplateInput(**{name: getattr(body, name) for name in _WRITTEN})
    made = service.create_template(call.session, call.workspace_id, data, call.actor, call.at)
    return made if isinstance(made, Refused) else etag(Answer(_template(made), 201))


@area.get("/templates", "templates:read", Page[TemplateOut])
def list_templates(call: Call, query: PageQuery) -> Result:
    """List templates, newest first."""
    rows, following = queries.page_templates(
        call.session, call.workspace_id, query.cursor, query.limit
    )
    return Answer(Page[TemplateOut](items=[_template(row) for row in rows], next=following))


@area.get("/templates/<id>", "templates:read", TemplateOut)
def get_template(call: Call, path: ById) -> Result:
    """Read one template."""
    row = queries.get_template(call.session, call.workspace_id, path.id)
    return missing("template_not_found") if row is None else etag(Answer(_template(row)))


@area.patch("/templates/<id>", "templates:manage", TemplateOut)
def update_template(call: Call, path: ById, body: TemplateChange) -> Result:
    """Change a template: only the keys that are sent. Sending html drops mjml, and the reverse."""
    row = queries.get_template(call.session, call.workspace_id, path.id)
    if row is None:
        return missing("template_not_found")
    written = {name: getattr(row, name) for name in _WRITTEN}
    sent = {name: getattr(body, name) for name in body.model_fields_set}
    if sent.get("html") is not None and "mjml" not in sent:
        written["mjml"] = None
    if sent.get("mjml") is not None and "html" not in sent:
        written["html"] = None
    data = TemplateInput(**{**written, **sent})
    # Merged into what was read: whoever changed it meanwhile must not be undone.
    kept = service.update_template(
        call.session, call.workspace_id, path.id, data, call.actor, call.at, row.version
    )
    return kept if isinstance(kept, Refused) else etag(Answer(_template(kept)))


@area.put("/templates/<id>", "templates:manage", {200: TemplateOut}, guarded=True)
def replace_template(call: Call, path: ById, body: NewTemplate) -> Result:
    """Replace a template; If-Match is the ETag that GET answered."""
    row = queries.get_template(call.session, call.workspace_id, path.id)
    if row is None:
        return missing("template_not_found")
    refused = precondition(call, Answer(_template(row)))
    if refused is not None:
        return refused
    data = TemplateInput(**{name: getattr(body, name) for name in _WRITTEN})
    kept = service.update_template(
        call.session, call.workspace_id, path.id, data, call.actor, call.at, row.version
    )
    return kept if isinstance(kept, Refused) else etag(Answer(_template(kept)))


@area.delete("/templates/<id>", "templates:manage")
def delete_template(call: Call, path: ById) -> Result:
    """Delete a template that no automation names; sent mails keep their text.

    One that automations name, in a draft or in force, stays: 409 with their number.
    """
    gone = discard_template(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


@area.post("/templates/<id>/preview", "templates:read", {200: PreviewOut})
def preview_template(call: Call, path: ById, body: PreviewAsk) -> Result:
    """Render a template as it would be sent; nothing is stored, nothing leaves."""
    shown = service.preview_template(
        call.session, call.workspace_id, path.id, call.at, links(), body.contact_id
    )
    if isinstance(shown, Refused):
        return shown
    return Answer(
        PreviewOut(
            subject=shown.subject, html=shown.html, text=shown.text, missing=list(shown.missing)
        )
    )


def _template(row: TemplateRow) -> TemplateOut:
    return TemplateOut(**shown(row, TemplateOut))
