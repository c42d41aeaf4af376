"""Births of runs and step runs, set-wise. Their statuses afterwards belong to `run_lifecycle`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Executable, String, bindparam, func, insert, literal_column, select
from sqlalchemy.orm import Session

from engine.automations import counters
from engine.automations.models import (
    ACTIVE,
    PENDING,
    RUNNING,
    SKIPPED,
    Automation,
    AutomationRun,
    AutomationStepRun,
)
from engine.core.db import (
    Columns,
    Id,
    Instant,
    Prepared,
    batch_table,
    json_type,
    packed,
    rows_table,
    table_of,
    upsert,
)

_RUN_COLUMNS: Final[Columns] = {
    "public_id": String(),
    "workspace_id": Id,
    "automation_id": Id,
    "revision_id": Id,
    "contact_id": Id,
    "event_id": Id,
    "triggered_by": String(),
    "trigger_data": json_type(),
    "next_step_at": Instant(),
    "started_at": Instant(),
}
_STEP_COLUMNS: Final[Columns] = {
    "workspace_id": Id,
    "automation_run_id": Id,
    "step_index": Id,
    "step_key": String(),
    "step_type": String(),
    "delay_until": Instant(),
}


def create_runs(session: Session, rows: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    """Insert running runs; whoever has one already gets none (the partial unique index decides).

    The automation is asked once more whether it is active, and held so until the transaction ends:
    a Stop waits for who is just entering, and who comes behind it stays outside. Returns
    (id, public_id) of the runs that really began; each is counted as entered.
    """
    source = batch_table(session, _RUN_COLUMNS, rows)
    values = [*(source.c[name] for name in _RUN_COLUMNS), *_constants(RUNNING, 0, 0)]
    names = [*_RUN_COLUMNS, "status", "current_step_index", "steps_executed"]
    owner = Automation
    chosen = (
        select(*values)
        .select_from(source)
        .join(
            owner,
            (owner.id == source.c.automation_id) & (owner.workspace_id == source.c.workspace_id),
        )
        .where(owner.status == ACTIVE)
        .with_for_update(read=True, key_share=True, of=owner)
    )
    statement = upsert(session, AutomationRun).from_select(names, chosen).on_conflict_do_nothing()
    run = AutomationRun
    made = session.execute(
        statement.returning(run.id, run.public_id, run.workspace_id, run.automation_id)
    ).all()
    for key, by in Counter((row.workspace_id, row.automation_id) for row in made).items():
        counters.count_runs(session, key, counters.ENTERED, by)
    return made


def create_step_runs(
    session: Session, rows: Sequence[Mapping[str, Any]], at: datetime
) -> Sequence[tuple[int, datetime]]:
    """Insert pending step runs, scheduled at `at`, and count them; return (id, due) of each.

    rows: the columns of a step run, one visit a run, and `automation_id` for the count.
    delay_until: when it is due, if not at once. result: a skip that a visit is born with, if any.
    """
    if not rows:
        return []
    _count(session, rows, PENDING)
    made = _CREATE_STEPS.run(session, rows=packed(session, rows), at=at).all()
    due = {row["automation_run_id"]: row["delay_until"] or at for row in rows}
    return [(row_id, due[run_id]) for row_id, run_id in made]


def _prepare_steps(dialect: str) -> Executable:
    table = table_of(AutomationStepRun)
    columns: Columns = {**_STEP_COLUMNS, "result": json_type()}
    source, at = rows_table(dialect, columns), bindparam("at", type_=Instant())
    due = func.coalesce(source.c.delay_until, at)
    values = [*(source.c[name] for name in columns), at, due, *_constants(PENDING, 0)]
    names = [*columns, "scheduled_at", "due_at", "status", "attempt"]
    statement = insert(table).from_select(names, select(*values))
    return statement.returning(table.c.id, table.c.automation_run_id)


_CREATE_STEPS: Final = Prepared(_prepare_steps)


def record_skipped(session: Session, rows: Sequence[Mapping[str, Any]], at: datetime) -> None:
    """Insert skipped step runs for the steps a forward jump passed (facts 1.9, decision A16)."""
    if not rows:
        return
    _count(session, rows, SKIPPED)
    _RECORD_SKIPPED.run(session, rows=packed(session, rows), at=at)


def _prepare_skipped(dialect: str) -> Executable:
    source, at = rows_table(dialect, _STEP_COLUMNS), bindparam("at", type_=Instant())
    values = [*(source.c[name] for name in _STEP_COLUMNS), *_constants(SKIPPED, 0), at, at, at]
    names = [*_STEP_COLUMNS, "status", "attempt", "scheduled_at", "due_at", "completed_at"]
    return insert(table_of(AutomationStepRun)).from_select(names, select(*values))


_RECORD_SKIPPED: Final = Prepared(_prepare_skipped)


def _count(session: Session, rows: Sequence[Mapping[str, Any]], status: str) -> None:
    keys = ((row["workspace_id"], row["automation_id"], row["step_key"]) for row in rows)
    counters.count_steps(session, keys, status)


def _constants(status: str, *numbers: int) -> list[Any]:
    return [literal_column(f"'{status}'"), *(literal_column(str(number)) for number in numbers)]
