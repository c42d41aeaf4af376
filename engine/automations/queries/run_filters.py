"""Which runs a filter means, as predicates over their own rows, and pages of their row ids.

A page costs the same however many runs there are: what no index finds (the step somebody stands at,
the text of an error) is asked of so many of the newest runs at a time, so a page may be short and
have a next one all the same.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.audience.models import Contact
from engine.automations.models import (
    EXECUTING,
    FAILED,
    PENDING,
    RUN_STATUSES,
    Automation,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.queries.run_rows import RunFilter
from engine.automations.run_lifecycle import RUNS
from engine.core.db import older
from engine.core.ids import write_cursor

# A search for a person looks at the first so many matches; more would be no answer to anybody.
_PEOPLE: Final = 200
# How many runs a page looks at for what no index knows.
LOOKED_AT: Final = 10_000
# So many transactions that begin runs are never under way at a time.
_NEAR: Final = 1_000


def page_ids(
    session: Session, workspace_id: int, wanted: RunFilter, after: str | None, limit: int
) -> tuple[Sequence[int], str | None]:
    """Return row ids of a page, newest first, and the cursor of the next page.

    The cursor names the last run that was looked at, so that a page without a match leads on too.
    """
    run = AutomationRun
    where = [*indexed(session, workspace_id, wanted), older(run.id, after)]
    slow = _by_looking(workspace_id, wanted)
    if not slow:
        query = select(run.id).where(*where).order_by(run.id.desc()).limit(limit + 1)
        ids = list(session.scalars(query))
        return ids[:limit], write_cursor(ids[limit - 1]) if len(ids) > limit else None
    newest = select(run.id).where(*where).order_by(run.id.desc()).limit(LOOKED_AT).subquery()
    query = select(run.id).where(
        run.workspace_id == workspace_id, run.id.in_(select(newest.c.id)), *slow
    )
    ids = list(session.scalars(query.order_by(run.id.desc()).limit(limit + 1)))
    if len(ids) > limit:
        return ids[:limit], write_cursor(ids[limit - 1])
    looked, oldest = session.execute(select(func.count(), func.min(newest.c.id))).one()
    return ids, write_cursor(oldest) if looked == LOOKED_AT else None


def conditions(session: Session, workspace_id: int, wanted: RunFilter) -> list[ColumnElement[bool]]:
    """Return everything that a filter asks of a run."""
    return [*indexed(session, workspace_id, wanted), *_by_looking(workspace_id, wanted)]


def indexed(session: Session, workspace_id: int, wanted: RunFilter) -> list[ColumnElement[bool]]:
    """Return what indexes of the runs answer; the workspace is always among it."""
    run = AutomationRun
    where: list[ColumnElement[bool]] = [run.workspace_id == workspace_id]
    if wanted.automation:
        where.append(run.automation_id == _row(Automation, workspace_id, wanted.automation))
    if wanted.contact:
        where.append(run.contact_id == _row(Contact, workspace_id, wanted.contact))
    if wanted.status:
        known = wanted.status in RUN_STATUSES
        where.append(RUNS.is_(wanted.status) if known else run.status == wanted.status)
    if wanted.since:
        where += _since(workspace_id, wanted.since)
    if wanted.until:
        where += _until(workspace_id, wanted.until)
    if wanted.q:
        people, _ = audience.page_contacts(session, workspace_id, q=wanted.q, limit=_PEOPLE)
        where.append(run.contact_id.in_([person.row_id for person in people]))
    if wanted.attention:
        where.append(run.attention_at.is_not(None))
    return where + _by_cause(wanted)


def _by_cause(wanted: RunFilter) -> list[ColumnElement[bool]]:
    """Return what the note of a failure on the run answers."""
    run, where = AutomationRun, []
    if wanted.attention and wanted.step:
        where.append(run.failed_step_key == wanted.step)
    if wanted.attention and wanted.error:
        where.append(run.error_code == wanted.error)
    elif wanted.error:
        where.append(run.error_code.is_not(None))
    return where


def _since(workspace_id: int, since: datetime) -> list[ColumnElement[bool]]:
    """Return the predicate of a first day, and a bound of the ids for it.

    Ids and times of entry rise together but for some transactions at a time, so the first _NEAR
    runs of a span hold its lowest id: a page by id then reads no run of another year.
    """
    run = AutomationRun
    near = (
        select(run.id)
        .where(run.workspace_id == workspace_id, run.started_at >= since)
        .order_by(run.started_at, run.id)
        .limit(_NEAR)
        .subquery()
    )
    return [run.started_at >= since, run.id >= select(func.min(near.c.id)).scalar_subquery()]


def _until(workspace_id: int, until: datetime) -> list[ColumnElement[bool]]:
    """Return the predicate of a last day, and a bound of the ids for it; see `_since`."""
    run = AutomationRun
    near = (
        select(run.id)
        .where(run.workspace_id == workspace_id, run.started_at < until)
        .order_by(run.started_at.desc(), run.id.desc())
        .limit(_NEAR)
        .subquery()
    )
    return [run.started_at < until, run.id <= select(func.max(near.c.id)).scalar_subquery()]


def _row(row: Any, workspace_id: int, public_id: str) -> Any:
    its = (row.workspace_id == workspace_id, row.public_id == public_id)
    return select(row.id).where(*its).scalar_subquery()


def _by_looking(workspace_id: int, wanted: RunFilter) -> list[ColumnElement[bool]]:
    """Return what has to be asked of each run; nothing where it asks for attention."""
    run, step = AutomationRun, AutomationStepRun
    where: list[ColumnElement[bool]] = []
    if wanted.attention:
        return where
    if wanted.step:
        where.append(
            exists().where(
                step.workspace_id == workspace_id,
                step.automation_run_id == run.id,
                step.step_key == wanted.step,
                step.status.in_((PENDING, EXECUTING, FAILED)),
            )
        )
    if wanted.error:
        said = [
            column.icontains(wanted.error, autoescape=True)
            for column in (run.error_code, run.error_message)
        ]
        where.append(or_(*said))
    return where
