"""The rollup: copies the sums of the shards to automations.stats_* (facts 1.12).

Only this writes those columns. Reports and outside queries read them; pages read the shards.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.orm import Session

from engine.automations.models import DRAFT, Automation, AutomationStatShard
from engine.core.unit_of_work import UnitOfWork

BATCH: Final = 500


def sweep(uow: UnitOfWork, batch: int = BATCH) -> Mapping[str, int]:
    """Bring every automation that is no draft up to date; return how many were behind.

    batch: automations a transaction, so that no lock is held for long.
    """
    last, changed = 0, 0
    while True:
        with uow.begin() as session:
            row = Automation
            statement = select(row.id).where(row.id > last, row.status != DRAFT)
            ids = session.scalars(statement.order_by(row.id).limit(batch)).all()
            if not ids:
                return {"automations": changed}
            changed += _write(session, ids[0], ids[-1])
            last = ids[-1]


def _write(session: Session, first: int, last: int) -> int:
    """Write the figures that differ, of the automations in a range of ids, in one statement.

    A row that somebody else has locked is left for the next minute: nobody waits for a cache.
    """
    row = Automation
    sums = _sums(first, last)
    behind = (
        select(row.id, sums.c.entered, sums.c.active, sums.c.completed)
        .join(sums, sums.c.automation_id == row.id)
        .where(
            row.status != DRAFT,
            or_(
                row.stats_entered != sums.c.entered,
                row.stats_active != sums.c.active,
                row.stats_completed != sums.c.completed,
            ),
        )
        .order_by(row.id)
        .with_for_update(of=row, key_share=True, skip_locked=True)
        .cte("behind")
    )
    statement = (
        update(row)
        .where(row.id == behind.c.id)
        .values(
            stats_entered=behind.c.entered,
            stats_active=behind.c.active,
            stats_completed=behind.c.completed,
        )
        .returning(row.id)
        .execution_options(synchronize_session=False)
    )
    return len(session.execute(statement).all())


def _sums(first: int, last: int) -> Any:
    row = AutomationStatShard
    inside = func.sum(row.entered - row.completed - row.cancelled)
    return (
        select(
            row.automation_id,
            func.sum(row.entered).label("entered"),
            case((inside > 0, inside), else_=0).label("active"),
            func.sum(row.completed).label("completed"),
        )
        .where(row.automation_id.between(first, last))
        .group_by(row.automation_id)
        .subquery("sums")
    )
