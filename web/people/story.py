"""The story of a person in words: one sentence a line, with its evidence and where it leads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from flask import url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString

from engine.audience.queries import StoryLine
from web.filters import when
from web.runs import messages as runs
from web.sends import messages as mails

Params = Mapping[str, str]
SOURCES: Final[Mapping[str, LazyString]] = {
    "api": lazy_gettext("by the API"),
    "console": lazy_gettext("in the console"),
    "import": lazy_gettext("by an import"),
    "automation": lazy_gettext("by an automation"),
    "inbound": lazy_gettext("by a mail that came in"),
    "dates": lazy_gettext("by the calendar"),
    "demo": lazy_gettext("by the sample data"),
    "public_email_link": lazy_gettext("by the link in a mail"),
}


@dataclass(frozen=True)
class Entry:
    """One line of the story."""

    at: datetime
    tone: str
    words: str
    url: str = ""
    evidence: Sequence[object] = field(default_factory=tuple)


@dataclass(frozen=True)
class Told:
    """How a code is told: its signal, its sentence, its evidence beside the source."""

    tone: str
    words: Callable[[Params], str]
    evidence: Callable[[Params], Sequence[object]] = lambda _params: ()
    endpoint: str = ""


def source(code: str | None) -> str:
    """Return where something came from."""
    return str(SOURCES.get(code, code)) if code else ""


def entries(lines: Sequence[StoryLine]) -> list[Entry]:
    """Return the lines of a person's story in words."""
    return [_entry(line) for line in lines]


def _entry(line: StoryLine) -> Entry:
    told = TOLD.get(line.title_code)
    if told is None:
        # A line of a later version keeps its stored name.
        return Entry(line.at, "off", line.title_code)
    url = url_for(told.endpoint, public_id=line.ref) if told.endpoint and line.ref else ""
    tone = told.tone
    if line.title_code == "run_cancelled" and line.params.get("reason") not in runs.BROKEN:
        # Somebody paused, stopped or deleted; nothing went wrong.
        tone = "off"
    return Entry(line.at, tone, told.words(line.params), url, told.evidence(line.params))


def _by(params: Params) -> Sequence[object]:
    return (source(params.get("source")),) if params.get("source") else ()


def _event(params: Params) -> Sequence[object]:
    happened = params.get("occurred_at")
    if happened is None:
        return _by(params)
    then = when(datetime.fromisoformat(happened), exact=True)
    return (*_by(params), _("happened %(when)s", when=then))


def _changed(params: Params) -> Sequence[object]:
    keys = params.get("changed")
    return (*((_("changed: %(keys)s", keys=keys),) if keys else ()), *_by(params))


def _why_ended(params: Params) -> Sequence[object]:
    why = runs.ended(params.get("reason"))
    return (why,) if why else ()


def _mail(params: Params) -> str:
    """Return how a mail is called: by its subject once it was made, before by its template."""
    name = params.get("subject") or params.get("template")
    return str(_("Mail “%(name)s”", name=name)) if name else str(_("Mail"))


def _why_failed(params: Params) -> Sequence[object]:
    why = mails.failed(params.get("code"), params.get("reply"))
    return (why,) if why else ()


def _topic(params: Params) -> str:
    return params.get("topic") or params.get("name", "")


TOLD: Final[Mapping[str, Told]] = {
    "contact_created": Told("go", lambda _p: str(_("Became known")), _by),
    "contact_updated": Told("off", lambda _p: str(_("Data changed")), _changed),
    "contact_deleted": Told("stop", lambda _p: str(_("Deleted")), _by),
    "event_received": Told(
        "go", lambda p: str(_("Event “%(name)s”", name=p.get("name", ""))), _event
    ),
    "date_reached": Told(
        "go", lambda p: str(_("The date “%(name)s” came", name=p.get("name", "")))
    ),
    "topic_subscribed": Told(
        "go", lambda p: str(_("Subscribed to the topic “%(topic)s”", topic=_topic(p))), _by
    ),
    "topic_pending": Told(
        "hold",
        lambda p: str(_("Asked for the topic “%(topic)s”, not confirmed yet", topic=_topic(p))),
        _by,
    ),
    "topic_unsubscribed": Told(
        "stop", lambda p: str(_("Left the topic “%(topic)s”", topic=_topic(p))), _by
    ),
    "unsubscribed": Told("stop", lambda _p: str(_("Unsubscribed from all marketing mail")), _by),
    "send_queued": Told(
        "off",
        lambda p: str(_("%(mail)s queued", mail=_mail(p))),
        endpoint="sends.detail",
    ),
    "send_sent": Told(
        "go",
        lambda p: str(_("%(mail)s accepted by the mail server", mail=_mail(p))),
        endpoint="sends.detail",
    ),
    "send_kept": Told(
        "off",
        lambda p: str(_("%(mail)s kept in the outbox here", mail=_mail(p))),
        endpoint="sends.detail",
    ),
    "send_failed": Told(
        "stop",
        lambda p: str(_("%(mail)s not delivered", mail=_mail(p))),
        _why_failed,
        "sends.detail",
    ),
    "run_started": Told(
        "go",
        lambda p: str(_("Entered the automation “%(name)s”", name=p.get("automation", ""))),
        endpoint="runs.detail",
    ),
    "run_completed": Told(
        "off",
        lambda p: str(_("Finished the automation “%(name)s”", name=p.get("automation", ""))),
        endpoint="runs.detail",
    ),
    "run_cancelled": Told(
        "stop",
        lambda p: str(_("Left the automation “%(name)s” early", name=p.get("automation", ""))),
        _why_ended,
        "runs.detail",
    ),
}
