"""Counters of automations: increments in shards, in the commit of what they count (facts 1.12).

One random shard a transaction, written last and in one order, so that writers seldom meet and never
wait in a circle. The sum over the shards is the truth; `rollup` copies it where people query.
"""

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from sqlalchemy import Executable, Integer, String, select
from sqlalchemy.orm import Session

from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    EXECUTING,
    FAILED,
    PENDING,
    SHARDS,
    SKIPPED,
    AutomationStatShard,
    AutomationStepStat,
)
from engine.core.db import (
    Base,
    Columns,
    Id,
    Prepared,
    always,
    packed,
    rows_table,
    table_of,
    upsert_of,
)
from engine.core.unit_of_work import last_write

ENTERED: Final = "entered"
_RUNS: Final = (ENTERED, COMPLETED, CANCELLED)
PASSED: Final = "passed"
DEPARTED: Final = "departed"
_STEPS: Final = (PENDING, EXECUTING, COMPLETED, FAILED, SKIPPED, PASSED, DEPARTED)
_NAME: Final = "automation_counters"

# (workspace, automation), and for steps the key of the step.
RunKey = tuple[int, int]
StepKey = tuple[int, int, str]


class _Counts:
    """What one transaction adds up."""

    def __init__(self) -> None:
        self.runs: dict[RunKey, Counter[str]] = {}
        self.steps: dict[StepKey, Counter[str]] = {}

    def write(self, session: Session) -> None:
        """Add everything to one shard; runs before steps, each by key."""
        shard = secrets.randbelow(SHARDS)
        runs = [
            {"workspace_id": key[0], "automation_id": key[1], "shard": shard, **counted}
            for key, counted in sorted(self.runs.items())
            if any(counted.values())
        ]
        steps = [
            {
                "workspace_id": key[0],
                "automation_id": key[1],
                "step_key": key[2],
                "shard": shard,
                **counted,
            }
            for key, counted in sorted(self.steps.items())
            if any(counted.values())
        ]
        _add(session, _ADD_RUNS, _RUNS, runs)
        _add(session, _ADD_STEPS, _STEPS, steps)


def count_runs(session: Session, key: RunKey, what: str, by: int = 1) -> None:
    """Count runs of an automation: `entered`, `completed` or `cancelled`.

    by: below 0 for `cancelled` alone, where a person revives runs.
    """
    _counts(session).runs.setdefault(key, Counter())[what] += by


def count_step(
    session: Session, key: StepKey, to: str | None, was: str | None = None, by: int = 1
) -> None:
    """Count step runs that were born in (`was` None) or moved to a status."""
    counted = _counts(session).steps.setdefault(key, Counter())
    if was is not None:
        counted[was] -= by
    if to is not None:
        counted[to] += by


def count_steps(session: Session, keys: Iterable[StepKey], to: str, was: str | None = None) -> None:
    """Count many step runs of the same move; or, beside it, people as PASSED or DEPARTED."""
    for key, by in Counter(keys).items():
        count_step(session, key, to, was, by)


def forget(session: Session, automation_ids: Collection[int]) -> None:
    """Drop what this transaction has counted of automations whose rows it deletes."""
    counted = _counts(session)
    counted.runs = {key: n for key, n in counted.runs.items() if key[1] not in automation_ids}
    counted.steps = {key: n for key, n in counted.steps.items() if key[1] not in automation_ids}


def _counts(session: Session) -> _Counts:
    return last_write(session, _NAME, _Counts)


def _add(
    session: Session, statement: Prepared, names: tuple[str, ...], rows: Sequence[Mapping[str, Any]]
) -> None:
    if rows:
        filled = [{**dict.fromkeys(names, 0), **each} for each in rows]
        statement.run(session, rows=packed(session, filled))


def _prepare(row: type[Base], keys: Columns, names: tuple[str, ...], dialect: str) -> Executable:
    table = table_of(row)
    columns: Columns = {**keys, "shard": Integer(), **{name: Integer() for name in names}}
    source = rows_table(dialect, columns)
    index = [name for name in (*keys, "shard") if name != "workspace_id"]
    order = [source.c[name] for name in index if name != "shard"]
    chosen = select(*(source.c[name] for name in columns)).where(always()).order_by(*order)
    statement = upsert_of(dialect, table).from_select(list(columns), chosen)
    added = {name: table.c[name] + statement.excluded[name] for name in names}
    return statement.on_conflict_do_update(index_elements=index, set_=added)


_OWNER: Final[Columns] = {"workspace_id": Id, "automation_id": Id}
_ADD_RUNS: Final = Prepared(partial(_prepare, AutomationStatShard, _OWNER, _RUNS))
_ADD_STEPS: Final = Prepared(
    partial(_prepare, AutomationStepStat, {**_OWNER, "step_key": String()}, _STEPS)
)
