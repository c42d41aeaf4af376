"""What the pages of templates show beside the form: the preview, whom fields lack, who uses it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.core.outcome import Refused
from engine.delivery.queries.lacking import Lack, lacking
from engine.delivery.service import Preview, TemplateInput
from engine.delivery.service.trying import preview_input
from web.links.making import links
from web.templates.messages import words


@dataclass(frozen=True)
class Shown:
    """A template as one person would get it.

    person: name or address, '' for the sample; missing: fields that are empty for that person;
    lacks: fields that are empty for some people; flaw: why there is nothing to see, or ''.
    """

    person: str = ""
    subject: str = ""
    html: str = ""
    text: str = ""
    missing: Sequence[str] = ()
    lacks: Sequence[Lack] = ()
    flaw: str = ""


def look(
    session: Session, workspace_id: int, given: TemplateInput, contact: str, at: datetime
) -> Shown:
    """Return the preview of a template, saved or not.

    contact: an address, a number or an id; '' for a sample person.
    """
    found = look_at_mail(session, workspace_id, given, contact, at)
    if isinstance(found, Shown):
        return found
    person, mail = found
    lacks = lacking(session, workspace_id, mail.variables)
    return Shown(person, mail.subject, mail.html, mail.text, mail.missing, lacks)


def look_at_mail(
    session: Session, workspace_id: int, given: TemplateInput, contact: str, at: datetime
) -> tuple[str, Preview] | Shown:
    """Return for whom, and the mail; or why there is none."""
    public_id, name = None, ""
    if contact:
        person = audience.find_person(session, workspace_id, contact)
        if person is None:
            return Shown(flaw=words(Refused("contact_not_found")))
        public_id, name = person.public_id, person.name or person.email or person.public_id
    # A mail can be looked at before the template has a name.
    named = replace(given, name=given.name or "-")
    mail = preview_input(session, workspace_id, named, public_id, at, links())
    if isinstance(mail, Refused):
        return Shown(flaw=words(mail))
    return name, mail
