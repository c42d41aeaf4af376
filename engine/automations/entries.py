"""Re-entry: who may enter an automation that limits it to once, or once in N days (decision A15).

Owns automation_entries. Its row outlives the runs, which the retention prunes, and its key decides
between equal triggers that come at the same moment.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, exists, func, literal, or_, select
from sqlalchemy.orm import Session

from engine.automations.models import RUNNING, AutomationEntry, AutomationRun
from engine.core.db import Columns, Id, Instant, always, batch_table, upsert

ONCE: Final = "once"
_COLUMNS: Final[Columns] = {"contact_id": Id}


def limits(reentry: object) -> bool:
    """Return whether a re-entry rule, as documents have it, limits who may enter again."""
    return reentry == ONCE or isinstance(reentry, Mapping)


def admit(
    session: Session,
    workspace_id: int,
    automation_id: int,
    reentry: object,
    contact_ids: Collection[int],
    at: datetime,
) -> set[int]:
    """Note that people enter now, and return those who may; the others leave no trace.

    One statement. Runs from before the rule count too. Of two transactions at once the second
    waits for the first and then finds its row.
    """
    people = [{"contact_id": contact_id} for contact_id in sorted(contact_ids)]
    batch = batch_table(session, _COLUMNS, people)
    entry = AutomationEntry
    since = _since(reentry, at)
    chosen = (
        select(
            literal(workspace_id, Id),
            literal(automation_id, Id),
            batch.c.contact_id,
            literal(at, Instant()),
        )
        .select_from(batch)
        .where(~_entered((workspace_id, automation_id), batch.c.contact_id, since))
        .order_by(batch.c.contact_id)
    )
    names = ["workspace_id", "automation_id", "contact_id", "entered_at"]
    statement = upsert(session, entry).from_select(names, chosen)
    key = ["automation_id", "contact_id"]
    if since is None:
        landed = statement.on_conflict_do_nothing(index_elements=key)
    else:
        landed = statement.on_conflict_do_update(
            index_elements=key,
            set_={"entered_at": statement.excluded.entered_at},
            where=entry.entered_at <= since,
        )
    return set(session.scalars(landed.returning(entry.contact_id)))


def remember(session: Session, workspace_id: int, automation_id: int) -> None:
    """Note who has entered so far, from the runs that are left; when a rule begins to limit.

    One statement; what is noted already stays.
    """
    run = AutomationRun
    chosen = (
        select(run.workspace_id, run.automation_id, run.contact_id, func.max(run.started_at))
        .where(run.workspace_id == workspace_id, run.automation_id == automation_id, always())
        .group_by(run.workspace_id, run.automation_id, run.contact_id)
        .order_by(run.contact_id)
    )
    names = ["workspace_id", "automation_id", "contact_id", "entered_at"]
    statement = upsert(session, AutomationEntry).from_select(names, chosen)
    session.execute(
        statement.on_conflict_do_nothing(index_elements=["automation_id", "contact_id"])
    )


def _since(reentry: object, at: datetime) -> datetime | None:
    """Return the instant at or before which an entry no longer bars; None for `once`."""
    return at - timedelta(days=reentry["days"]) if isinstance(reentry, Mapping) else None


def _entered(
    place: tuple[int, int], contact_id: Any, since: datetime | None
) -> ColumnElement[bool]:
    """Return "has a run that bars"; the index of a person begins with the workspace."""
    run = AutomationRun
    workspace_id, automation_id = place
    barring = [] if since is None else [or_(run.started_at > since, run.status == RUNNING)]
    return exists().where(
        run.workspace_id == workspace_id,
        run.contact_id == contact_id,
        run.automation_id == automation_id,
        *barring,
    )
