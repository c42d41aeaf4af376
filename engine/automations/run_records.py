"""Births of runs and step runs, and notes on runs, set-wise; statuses belong to `run_lifecycle`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Executable,
    String,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.orm import Session

from engine.automations import counters, run_lifecycle
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
    json_type,
    packed,
    rows_table,
    table_of,
    upsert_of,
)

# What differs from run to run of one fan-out; the rest is a `Birth`.
_RUN_COLUMNS: Final[Columns] = {
    "public_id": String(),
    "contact_id": Id,
    "event_id": Id,
    "trigger_data": json_type(),
}
_STEP_COLUMNS: Final[Columns] = {
    "workspace_id": Id,
    "automation_run_id": Id,
    "step_index": Id,
    "step_key": String(),
    "step_type": String(),
    "delay_until": Instant(),
    "awaits": String(),
}


class Birth(NamedTuple):
    """What runs that begin together have in common. next_step_at: None where nobody waits first."""

    workspace_id: int
    automation_id: int
    revision_id: int
    triggered_by: str
    next_step_at: datetime | None
    started_at: datetime


_BIRTH: Final[Columns] = {
    "workspace_id": Id,
    "automation_id": Id,
    "revision_id": Id,
    "triggered_by": String(),
    "next_step_at": Instant(),
    "started_at": Instant(),
}


def create_runs(
    session: Session, birth: Birth, rows: Sequence[Mapping[str, Any]]
) -> Sequence[tuple[int, str]]:
    """Insert running runs; whoever has one already gets none (the partial unique index decides).

    rows: public_id, contact_id, event_id, trigger_data. The automation is asked once more whether
    it is active, and held so until the transaction ends: a Stop waits for who is just entering, and
    who comes behind it stays outside. Returns (id, public_id) of the runs that really began; each
    is counted as entered.
    """
    same = {f"of_{name}": value for name, value in birth._asdict().items()}
    found = _CREATE_RUNS.run(session, rows=packed(session, rows), **same).all()
    made = [(row_id, public_id) for row_id, public_id in found]
    key = (birth.workspace_id, birth.automation_id)
    counters.count_runs(session, key, counters.ENTERED, len(made))
    return made


def _prepare_runs(dialect: str) -> Executable:
    table, owner = table_of(AutomationRun), table_of(Automation).c
    source = rows_table(dialect, _RUN_COLUMNS)
    same = {name: bindparam(f"of_{name}", type_=kind) for name, kind in _BIRTH.items()}
    values = [*(source.c[name] for name in _RUN_COLUMNS), *same.values()]
    names = [*_RUN_COLUMNS, *same, "status", "current_step_index", "steps_executed"]
    its = (owner.id == same["automation_id"]) & (owner.workspace_id == same["workspace_id"])
    chosen = (
        select(*values, *_constants(RUNNING, 0, 0))
        .join_from(source, owner.id.table, its)
        .where(owner.status == ACTIVE)
        .with_for_update(read=True, key_share=True, of=owner.id.table)
    )
    statement = upsert_of(dialect, table).from_select(names, chosen).on_conflict_do_nothing()
    return statement.returning(table.c.id, table.c.public_id)


_CREATE_RUNS: Final = Prepared(_prepare_runs)


def create_step_runs(
    session: Session, rows: Sequence[Mapping[str, Any]], at: datetime
) -> Sequence[tuple[int, datetime]]:
    """Insert pending step runs, scheduled at `at`, and count them; return (id, due) of each.

    rows: the columns of a step run, one visit a run, and `automation_id` for the count.
    delay_until: when it is due, if not at once; awaits: the event that ends that early, if any.
    result: a skip that a visit is born with, if any.
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


def note_failures(
    session: Session, failures: Mapping[int, tuple[str, str, str]], at: datetime
) -> None:
    """Note on runs that a failed step ended which step that was and why; they ask for attention.

    failures: (step key, error code, message) by run. A revival takes the note back.
    """
    if not failures:
        return
    rows = [
        {"id": run_id, "step_key": step_key, "code": code, "message": message}
        for run_id, (step_key, code, message) in failures.items()
    ]
    _NOTE_FAILURES.run(session, rows=packed(session, rows), at=at)


def _prepare_failures(dialect: str) -> Executable:
    table = table_of(AutomationRun)
    noted: Columns = {"id": Id, "step_key": String(), "code": String(), "message": String()}
    rows = rows_table(dialect, noted)
    return (
        update(table)
        .where(table.c.id == rows.c.id)
        .values(
            failed_step_key=rows.c.step_key,
            error_code=rows.c.code,
            error_message=rows.c.message,
            attention_at=bindparam("at", type_=Instant()),
        )
    )


_NOTE_FAILURES: Final = Prepared(_prepare_failures)


def note_waits(session: Session, rows: Sequence[Mapping[str, Any]]) -> int:
    """Note on running runs until when their visit was put off; return how many run (facts 1.1).

    rows: run_id, delay_until; None: it is due at once.
    """
    return len(_NOTE_WAITS.run(session, rows=packed(session, rows)).all()) if rows else 0


def _prepare_waits(dialect: str) -> Executable:
    table = table_of(AutomationRun)
    rows = rows_table(dialect, {"run_id": Id, "delay_until": Instant()})
    return (
        update(table)
        .where(table.c.id == rows.c.run_id, run_lifecycle.RUNS.at(RUNNING))
        .values(next_step_at=rows.c.delay_until)
        .returning(table.c.id)
    )


_NOTE_WAITS: Final = Prepared(_prepare_waits)


def _count(session: Session, rows: Sequence[Mapping[str, Any]], status: str) -> None:
    keys = ((row["workspace_id"], row["automation_id"], row["step_key"]) for row in rows)
    counters.count_steps(session, keys, status)


def _constants(status: str, *numbers: int) -> list[Any]:
    return [literal_column(f"'{status}'"), *(literal_column(str(number)) for number in numbers)]
