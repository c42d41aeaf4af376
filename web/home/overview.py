"""What the first page says: the automations with most people in them, and who set out last."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flask import Response
from sqlalchemy.orm import Session

from engine.accounts import queries as accounts
from engine.automations import queries as automations
from engine.automations.queries import RunFilter
from web import auth, htmx
from web.automations import reading
from web.home import messages
from web.request import runtime, session

CARDS: Final = 6
LINES: Final = 8
# Of so many automations, the newest, the ones with most people are shown.
LOOKED_AT: Final = 50


@dataclass(frozen=True)
class Card:
    """One automation in numbers. next_due: when the next person moves, where that is known."""

    public_id: str
    name: str
    status: str
    trigger: str
    entered: int
    inside: int
    finished: int
    next_due: datetime | None = None


@dataclass(frozen=True)
class Line:
    """One person's run, in words."""

    public_id: str
    person: str
    automation: str
    words: str
    at: datetime
    status: str


def show() -> Response:
    """Show the first page of a signed-in person."""
    workspace_id = auth.person().workspace_id
    cards, under_way = _cards(session(), workspace_id)
    total = sum(automations.status_counts(session(), workspace_id).values())
    keys, _ = accounts.list_keys(session(), workspace_id, limit=1)
    return htmx.render(
        "home/index.html",
        automations=cards,
        more=total - len(cards),
        under_way=under_way,
        latest=_latest(session(), workspace_id),
        has_key=bool(keys),
        base_url=runtime().settings.base_url,
    )


def _cards(session: Session, workspace_id: int) -> tuple[Sequence[Card], int]:
    """Return the cards, and how many runs are under way in all automations looked at."""
    rows, _ = automations.page_automations(session, workspace_id, limit=LOOKED_AT)
    tallies = automations.tallies(session, workspace_id, [row.row_id for row in rows])
    triggers = reading.trigger_words(
        session,
        workspace_id,
        {row.row_id: (row.trigger_type, row.trigger_config) for row in rows},
    )
    cards = [
        Card(
            row.public_id,
            row.name,
            row.status,
            triggers[row.row_id],
            tally.entered,
            tally.inside,
            tally.finished,
        )
        for row in rows
        for tally in [tallies.get(row.row_id, automations.Tally())]
    ]
    shown = sorted(cards, key=lambda card: -card.inside)[:CARDS]
    return shown, sum(card.inside for card in cards)


def _latest(session: Session, workspace_id: int) -> Sequence[Line]:
    rows, _ = automations.page_runs(session, workspace_id, RunFilter(), limit=LINES)
    places = {row.row_id: (row.revision_row_id, row.step_key) for row in rows}
    steps = reading.step_titles(session, workspace_id, places)
    return [
        Line(
            row.public_id,
            row.contact_name or row.contact_email or row.contact_id,
            row.automation_name,
            messages.standing(row, steps.get(row.row_id)),
            row.started_at,
            row.status,
        )
        for row in rows
    ]
