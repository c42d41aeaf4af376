"""What the API says of an automation that stands still: who paused it, what failed last (A12)."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from engine.automations import queries
from engine.automations.queries import AutomationRow, Failure
from web.api.fields import Out


class LastError(Out):
    """A step that failed for good and ended its run. run, contact: ids; step: its key."""

    run: str
    contact: str
    step: str
    code: str
    message: str
    at: datetime


def standstill(session: Session, workspace_id: int, row: AutomationRow) -> dict[str, Any]:
    """Return paused_by and last_errors; the errors only where the breaker paused it."""
    actor = queries.paused_by(session, workspace_id, row)
    errors = (
        queries.last_failures(session, workspace_id, row.row_id)
        if queries.is_breaker(actor)
        else ()
    )
    return {"paused_by": actor, "last_errors": [_error(each) for each in errors]}


def _error(found: Failure) -> LastError:
    return LastError(
        run=found.run_id,
        contact=found.contact_id,
        step=found.step_key,
        code=found.code,
        message=found.message,
        at=found.at,
    )
