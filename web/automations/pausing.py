"""Who paused an automation, and what the breaker saw when it did (decision A12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flask_babel import gettext as _
from sqlalchemy.orm import Session

from engine.accounts import trail
from engine.automations import queries
from engine.automations.queries import AutomationRow
from web.audit.messages import who
from web.automations import reading
from web.runs import messages as runs


@dataclass(frozen=True)
class Error:
    """One of the last errors. run_id: public id; step: what it does; words: what went wrong."""

    run_id: str
    person: str
    step: str
    words: str
    at: datetime


@dataclass(frozen=True)
class Broken:
    """What the breaker's note says. errors: the last ones, newest first."""

    errors: Sequence[Error]


@dataclass(frozen=True)
class Pause:
    """A pause as its page tells it. by: who did it, '' where nobody knows; broken: the breaker."""

    by: str = ""
    broken: Broken | None = None


def read(session: Session, workspace_id: int, row: AutomationRow) -> Pause:
    """Return who paused it and, where that was the breaker, what failed last."""
    actor = queries.paused_by(session, workspace_id, row)
    if actor is None:
        return Pause()
    if queries.is_breaker(actor):
        return Pause(str(_("the breaker")), Broken(_errors(session, workspace_id, row)))
    return Pause(who(actor, trail.names(session, workspace_id, [actor])))


def _errors(session: Session, workspace_id: int, row: AutomationRow) -> Sequence[Error]:
    found = queries.last_failures(session, workspace_id, row.row_id)
    places = {place: (each.revision_row_id, each.step_key) for place, each in enumerate(found)}
    titles = reading.step_titles(session, workspace_id, places)
    return [
        Error(
            each.run_id,
            each.contact_name,
            titles.get(place, each.step_key),
            runs.failed(each.code, each.message),
            each.at,
        )
        for place, each in enumerate(found)
    ]
