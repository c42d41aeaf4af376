"""An upgrade tells apart, of the visits there are, who was passed on and whose run had ended.

It looks through the visits once, however many steps there are.
"""

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

from migrations import run
from tests.migrations.test_upgrades import REVISIONS, ask, old, revision

__all__ = ["old", "revision"]

# Versions whose steps did not count them apart yet.
BEFORE = [each for each in REVISIONS if each < "0003"]
PASSED = "steps.status = 'skipped' AND steps.attempt > 0"
DEPARTED = "steps.status = 'failed' AND steps.error_code = 'RUN_ENDED'"
BY_VISITS = f"""
SELECT runs.automation_id, steps.step_key,
    sum(CASE WHEN {PASSED} THEN 1 ELSE 0 END), sum(CASE WHEN {DEPARTED} THEN 1 ELSE 0 END)
FROM automation_step_runs AS steps JOIN automation_runs AS runs ON runs.id = steps.automation_run_id
GROUP BY 1, 2 ORDER BY 1, 2
"""
BY_COUNTS = """
SELECT automation_id, step_key, sum(passed), sum(departed)
FROM automation_step_stats GROUP BY 1, 2 ORDER BY 1, 2
"""


def figures(engine: Engine, statement: str) -> list[tuple[int, str, int, int]]:
    found = ask(engine, statement)
    return [(owner, key, int(passed), int(gone)) for owner, key, passed, gone in found]


@pytest.mark.parametrize("revision", BEFORE, indirect=True)
def test_visits_from_before_are_told_apart(old: Engine) -> None:
    with old.begin() as connection:
        for changed in (
            "SET status = 'skipped', attempt = 1 WHERE id % 3 = 0",
            "SET status = 'skipped', attempt = 0 WHERE id % 7 = 1",
            "SET status = 'failed', error_code = 'RUN_ENDED' WHERE id % 3 = 1",
            "SET status = 'failed', error_code = 'NO_OUTCOME' WHERE id % 11 = 1",
        ):
            connection.execute(text(f"UPDATE automation_step_runs {changed}"))
    run.upgrade(old)
    by_visits = figures(old, BY_VISITS)
    assert figures(old, BY_COUNTS) == by_visits
    assert sum(row[2] for row in by_visits) > 0 < sum(row[3] for row in by_visits)


def test_the_visits_are_looked_through_once(old: Engine) -> None:
    run.upgrade(old)
    script = ScriptDirectory(str(run.FOLDER)).get_revision("0003").module
    explain = "EXPLAIN QUERY PLAN" if old.dialect.name == "sqlite" else "EXPLAIN"
    plan = str(ask(old, f"{explain} {script._APART}"))
    assert "steps" in plan
    assert "CORRELATED" not in plan
    assert "SubPlan" not in plan
