"""Causes as the page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from engine.automations.queries import Cause
from web.automations import reading
from web.runs import messages


@dataclass(frozen=True)
class Line:
    """One cause. automation_gone: it was deleted since, so nobody goes on in it.

    step: in words; key, code: as stored, for the addresses of its runs. capped: there are more.
    """

    automation: str
    automation_id: str
    automation_gone: bool
    step: str
    key: str
    code: str
    words: str
    count: int
    capped: bool
    newest: datetime
    run: str


def lines(session: Session, workspace_id: int, found: Sequence[Cause]) -> list[Line]:
    """Return causes in words, a bounded number of statements for all."""
    places = {cause.newest_run: (cause.revision_row_id, cause.step_key) for cause in found}
    steps = reading.step_titles(session, workspace_id, places)
    return [
        Line(
            automation=cause.automation_name,
            automation_id=cause.automation_id,
            automation_gone=cause.automation_gone,
            step=steps.get(cause.newest_run, cause.step_key),
            key=cause.step_key,
            code=cause.error_code,
            words=messages.failed(cause.error_code, cause.message),
            count=cause.count,
            capped=cause.capped,
            newest=cause.newest_at,
            run=cause.newest_run,
        )
        for cause in found
    ]
