"""What needs a person: failed runs by what failed where, one row for any number of equal errors,
and the people whom a paused automation holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, Subquery, func, select
from sqlalchemy.orm import Session

from engine.automations.models import HOLD, PAUSED, Automation, AutomationRun
from engine.automations.queries.stats import tallies

# So many runs are counted; beyond that the page says "more than".
MOST: Final = 10_000
# So many causes are listed, those with the newest failure first.
LISTED: Final = 200


@dataclass(frozen=True)
class Cause:
    """Runs that failed at the same step for the same reason and wait for somebody to look.

    automation_gone: it was deleted since. count: how many; capped: there may be more. newest_at:
    when the newest of them failed; newest_run: its public id; revision_row_id: that it went by.
    """

    automation_id: str
    automation_name: str
    automation_gone: bool
    step_key: str
    error_code: str
    message: str | None
    count: int
    capped: bool
    newest_at: datetime
    newest_run: str
    revision_row_id: int


@dataclass(frozen=True)
class Holding:
    """A paused automation that holds the people inside until it is resumed (decision A11)."""

    automation_id: str
    automation_name: str
    paused_at: datetime | None
    inside: int


def causes(session: Session, workspace_id: int, most: int = MOST) -> Sequence[Cause]:
    """Return the causes, the newest failure first; two statements, the first from an index alone.

    most: runs that are looked at.
    """
    asking = _asking(workspace_id, most)
    key = (asking.c.automation_id, asking.c.failed_step_key, asking.c.error_code)
    grouped = session.execute(
        select(func.count().label("found"), func.max(asking.c.id).label("newest"))
        .group_by(*key)
        .order_by(func.max(asking.c.id).desc())
        .limit(LISTED)
    ).all()
    if not grouped:
        return []
    capped = sum(row.found for row in grouped) > most
    counts = {row.newest: row.found for row in grouped}
    run = AutomationRun
    samples = session.execute(
        select(
            run.id,
            run.public_id,
            run.revision_id,
            run.failed_step_key,
            run.error_code,
            run.error_message,
            run.attention_at,
            Automation.public_id.label("owner"),
            Automation.name,
            Automation.deleted_at,
        )
        .join(Automation, Automation.id == run.automation_id)
        .where(run.workspace_id == workspace_id, run.id.in_(counts))
        .order_by(run.attention_at.desc(), run.id.desc())
    )
    return [_cause(row, counts[row.id], capped=capped) for row in samples]


def cause_count(session: Session, workspace_id: int, most: int = MOST) -> int:
    """Return how many causes there are, in one statement from an index; for the navigation."""
    return session.scalar(cause_number(workspace_id, most)) or 0


def cause_number(workspace_id: int, most: int = MOST) -> Select[int]:
    """Return `cause_count` as a query of one value, for a statement that asks more."""
    asking = _asking(workspace_id, most)
    key = (asking.c.automation_id, asking.c.failed_step_key, asking.c.error_code)
    different = select(*key).distinct().subquery()
    return select(func.count()).select_from(different)


def holding(session: Session, workspace_id: int) -> list[Holding]:
    """Return the paused automations that hold somebody, the longest pause first; two statements."""
    row = Automation
    found = session.execute(
        select(row.id, row.public_id, row.name, row.paused_at)
        .where(
            row.workspace_id == workspace_id,
            row.status == PAUSED,
            row.on_pause == HOLD,
            row.deleted_at.is_(None),
        )
        .order_by(row.paused_at, row.id)
        .limit(LISTED)
    ).all()
    counts = tallies(session, workspace_id, [each.id for each in found]) if found else {}
    return [
        Holding(each.public_id, each.name, each.paused_at, counts[each.id].inside)
        for each in found
        if counts[each.id].inside
    ]


def _asking(workspace_id: int, most: int) -> Subquery:
    run = AutomationRun
    return (
        select(run.id, run.automation_id, run.failed_step_key, run.error_code)
        .where(run.workspace_id == workspace_id, run.attention_at.is_not(None))
        .limit(most + 1)
        .subquery()
    )


def _cause(row: Any, count: int, *, capped: bool) -> Cause:
    return Cause(
        automation_id=row.owner,
        automation_name=row.name,
        automation_gone=row.deleted_at is not None,
        step_key=row.failed_step_key,
        error_code=row.error_code,
        message=row.error_message,
        count=count,
        capped=capped,
        newest_at=row.attention_at,
        newest_run=row.public_id,
        revision_row_id=row.revision_id,
    )
