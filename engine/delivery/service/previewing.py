"""A mail as somebody would get it, without queueing it: rendered like the real one, never sent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.audience.models import BUILT_IN
from engine.audience.queries import ReachRow
from engine.audience.values import TypedValue
from engine.delivery.compose.render import (
    Compiled,
    Flaw,
    MailData,
    compile_source,
    missing_variables,
    render,
)
from engine.delivery.links import Links
from engine.delivery.queries import facts
from engine.delivery.service.requests import barred
from engine.delivery.service.sends import SendRequest

FoundT = TypeVar("FoundT")


@dataclass
class Kept:
    """What many previews of one trial share, so that a loop reads each thing once."""

    _found: dict[object, Any] = field(default_factory=dict)

    def once(self, key: object, read: Callable[[], FoundT]) -> FoundT:
        """Return what `read` answers, or answered before for this key."""
        if key not in self._found:
            self._found[key] = read()
        found: FoundT = self._found[key]
        return found


@dataclass(frozen=True)
class Reader:
    """Who would get a mail. contact: what templates read as `contact.*`; values: by key."""

    contact: Mapping[str, Any]
    values: Mapping[str, TypedValue]
    unsubscribed_at: datetime | None


@dataclass(frozen=True)
class PreviewedMail:
    """A mail as it would be. missing: variables that rendered empty.

    withheld: why nothing would leave (suppressed, unsubscribed), or None; what depends on mails
    before it (decision A17) is not judged. flaw: why it cannot be rendered; its texts are '' then.
    """

    to: str
    sender: str
    subject: str
    html: str
    text: str
    missing: tuple[str, ...] = ()
    withheld: str | None = None
    flaw: str | None = None


def preview_mail(
    session: Session,
    request: SendRequest,
    reader: Reader,
    at: datetime,
    links: Links,
    kept: Kept,
) -> PreviewedMail:
    """Return the mail that `request` would become; at: what `now` means in it.

    links: of the installation; what a preview shows of them acts on nobody. kept: of this trial;
    three statements where it knows nothing yet.
    """
    place, email = request.workspace_id, request.to_email
    blocked = kept.once(("blocked", email), lambda: audience.blocked_for(session, place, email))
    withheld = barred(request, blocked, ReachRow(reader.unsubscribed_at, None))
    flaw, texts, missing = _rendered(session, request, reader, at, links, kept)
    sender = f"{request.from_name} <{request.from_email}>".strip()
    return PreviewedMail(request.to_email, sender, *texts, missing, withheld, flaw)


def _rendered(
    session: Session,
    request: SendRequest,
    reader: Reader,
    at: datetime,
    links: Links,
    kept: Kept,
) -> tuple[str | None, tuple[str, str, str], tuple[str, ...]]:
    """Return the flaw or None, the texts (subject, HTML, text) and what is missing."""
    row, place = request.template_id or 0, request.workspace_id
    compiled = kept.once(("template", row), lambda: _compiled(session, row))
    if isinstance(compiled, Flaw):
        return _flawed(compiled)
    properties = {
        key: facts.native(value) for key, value in reader.values.items() if key not in BUILT_IN
    }
    workspaces = kept.once("workspace", lambda: facts.workspace_variables(session, [place]))
    data = MailData(
        reader.contact,
        properties,
        workspaces[place],
        request.context,
        {"unsubscribe_url": links.unsubscribe_preview()},
    )
    mail = render(compiled, data, at, request.subject_override)
    if isinstance(mail, Flaw):
        return _flawed(mail)
    return None, (mail.subject, mail.html, mail.text), missing_variables(compiled, data)


def _compiled(session: Session, row: int) -> Compiled | Flaw:
    return compile_source(next(iter(facts.template_sources(session, [row]).values())))


def _flawed(flaw: Flaw) -> tuple[str, tuple[str, str, str], tuple[str, ...]]:
    return f"{flaw.part}: {flaw.broken.message}", ("", "", ""), ()
