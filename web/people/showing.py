"""What the pages of people show: rows of the list, one person with everything known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from babel.numbers import format_decimal
from flask_babel import get_locale
from flask_babel import gettext as _
from sqlalchemy.orm import Session

from engine import story as stories
from engine.audience import queries
from engine.audience.models import INSTANT
from engine.audience.queries import ContactRow
from engine.audience.values import Native
from engine.automations import queries as automations
from engine.automations.queries import RunFilter
from web.filters import when
from web.people import story
from web.runs import listing
from web.tables import Page

# Automations of a person shown on its page; the list of runs has the rest.
_RUNS: Final = 20


@dataclass(frozen=True)
class Line:
    """A person as the list shows it."""

    public_id: str
    name: str
    address: str
    external_id: str
    language: str
    created: datetime
    inside: int
    unsubscribed: bool


@dataclass(frozen=True)
class Person:
    """One person; see templates/people/detail.html."""

    public_id: str
    name: str
    address: str
    external_id: str
    created: datetime
    unsubscribed_at: datetime | None
    source: str


@dataclass(frozen=True)
class Topic:
    """A topic of a person; pending: asked, not yet confirmed."""

    name: str
    since: datetime
    pending: bool


def lines(session: Session, workspace_id: int, rows: Sequence[ContactRow]) -> list[Line]:
    """Return rows of the list; one statement for the automations they are in."""
    inside = automations.runs_inside(session, workspace_id, [row.row_id for row in rows])
    return [
        Line(
            row.public_id,
            row.name,
            row.email or "",
            row.external_id or "",
            row.language or "",
            row.created_at,
            inside.get(row.row_id, 0),
            row.unsubscribed_at is not None,
        )
        for row in rows
    ]


def page(
    session: Session, workspace_id: int, row: ContactRow, after: str | None, at: datetime
) -> dict[str, Any]:
    """Return the context of people/detail.html; after: the cursor of the story."""
    told, following = stories.story(session, workspace_id, row.row_id, after)
    runs, more = automations.page_runs(
        session, workspace_id, RunFilter(contact=row.public_id), limit=_RUNS
    )
    return {
        "person": Person(
            row.public_id,
            row.name,
            row.email or "",
            row.external_id or "",
            row.created_at,
            row.unsubscribed_at,
            story.source(row.source),
        ),
        "runs": listing.lines(session, workspace_id, runs, at),
        "more_runs": more is not None,
        "properties": _properties(session, workspace_id, row),
        "topics": [
            Topic(each.topic_name, each.since, each.pending)
            for each in queries.memberships(session, workspace_id, row.public_id)
        ],
        "timeline": story.entries(told),
        "page": Page(following, first=after is None),
    }


def _properties(session: Session, workspace_id: int, row: ContactRow) -> list[tuple[str, object]]:
    """Return what is known, the built-in fields first; what is not known is left out."""
    built_in: list[tuple[str, object]] = [
        (str(_("First name")), row.first_name),
        (str(_("Last name")), row.last_name),
        (str(_("E-mail address")), row.email),
        (str(_("Number")), row.external_id),
        (str(_("Language")), row.language),
        (str(_("Time zone")), row.timezone),
    ]
    defined, _following = queries.list_properties(session, workspace_id)
    known = {each.key: each for each in defined}
    custom = [
        (
            known[key].label if key in known else key,
            _value(value, known[key].type if key in known else ""),
        )
        for key, value in sorted(row.properties.items())
    ]
    return [(label, value) for label, value in built_in if value] + custom


def _value(value: Native, kind: str) -> object:
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    if isinstance(value, str):
        return when(datetime.fromisoformat(value)) if kind == INSTANT else value
    return str(format_decimal(value, locale=get_locale() or "en"))
