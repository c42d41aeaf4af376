"""What happens when the tables grow: a sweep with nothing due, and a claim, over many rows.

The rows are made in SQL, as many waiting as finished ones, in the product's own schema.
"""

import statistics
import time
from collections.abc import Callable
from typing import Final

from sqlalchemy import bindparam, text

from engine.core import clock
from engine.core.db import Instant
from engine.core.walking import BATCH
from engine.house import House
from tests.bench.installation import Hints, prepare
from tests.bench.lines import Line
from tests.bench.places import Db, Places, vacuum
from tests.bench.walker import installation
from tests.factories import automations as make

_TIMES: Final = 25
# %s: a dialect's own series of numbers 1 … :number, as a table with one column `number`.
_CONTACTS: Final = (
    "INSERT INTO contacts (workspace_id, public_id, email, source, has_opened, has_clicked,"
    " created_at, updated_at)"
    " SELECT :workspace, 'c' || number, 'p' || number || '@people.example', 'api', false, false,"
    " :at, :at FROM {series}"
)
_RUNS: Final = (
    "INSERT INTO automation_runs (workspace_id, public_id, automation_id, revision_id, contact_id,"
    " status, current_step_index, steps_executed, triggered_by, started_at)"
    " SELECT :workspace, '{status}' || contacts.id, automations.id, automations.revision_id,"
    " contacts.id, '{status}', 0, 1, 'event_received', :at"
    " FROM contacts JOIN automations ON automations.workspace_id = contacts.workspace_id"
)
_VISITS: Final = (
    "INSERT INTO automation_step_runs (workspace_id, automation_run_id, step_index, step_key,"
    " step_type, status, attempt, scheduled_at, due_at)"
    " SELECT workspace_id, id, 0, 'wait', 'delay', '{visit}', {attempt}, :at, :due"
    " FROM automation_runs WHERE status = '{status}'"
)
_MAKE_DUE: Final = text(
    "UPDATE automation_step_runs SET due_at = :at WHERE id IN"
    " (SELECT id FROM automation_step_runs WHERE status = 'pending' ORDER BY id DESC LIMIT :number)"
).bindparams(bindparam("at", type_=Instant()))
_SERIES: Final = {
    "pg": "generate_series(1, :number) AS series (number)",
    "sqlite": "(WITH RECURSIVE series (number) AS (SELECT 1 UNION ALL SELECT number + 1"
    " FROM series WHERE number < :number) SELECT number FROM series)",
}


def measure(places: Places, db: Db, number: int) -> Line:
    """Return milliseconds of an empty sweep and a claim; `number` rows wait, as many are done."""
    place = installation(places, db)
    with place.house(Hints()) as house:
        ready = prepare(house, 0, make.document(make.delay("wait", 30, "days")))
        _load(house, db, ready.workspace_id, number)
        vacuum(place.database_url)
        sweep = _median(lambda: house.steps.sweep())
        with house.runtime.uow.begin() as session:
            due = (_TIMES + 1) * BATCH
            session.execute(_MAKE_DUE, {"at": clock.now(), "number": due})
        vacuum(place.database_url)
        claim = _median(lambda: house.steps.claim(None, BATCH))
    places.forget(place.database_url)
    return {
        "test": "growing",
        "engine": "product",
        "db": db,
        "rows": number,
        "sweep_ms": 1_000 * sweep,
        "claim_ms": 1_000 * claim,
    }


def _load(house: House, db: Db, workspace_id: int, number: int) -> None:
    at = clock.now()
    given = {
        "workspace": workspace_id,
        "number": number,
        "at": at,
        "due": at.replace(year=at.year + 1),
    }
    kinds = (("completed", "completed", 1), ("running", "pending", 0))
    statements = [_CONTACTS.format(series=_SERIES[db])]
    for status, visit, attempt in kinds:
        statements.append(_RUNS.format(status=status))
        statements.append(_VISITS.format(status=status, visit=visit, attempt=attempt))
    for statement in statements:
        with house.runtime.uow.begin() as session:
            wanted = text(statement)
            names = set(wanted.compile().params)
            instants = [bindparam(name, type_=Instant()) for name in names & {"at", "due"}]
            session.execute(wanted.bindparams(*instants), {name: given[name] for name in names})


def _median(action: Callable[[], object]) -> float:
    action()
    times = []
    for _ in range(_TIMES):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)
