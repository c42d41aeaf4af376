"""Databases of released versions, kept in tests/fixtures, are upgraded with everything in them.

UPG-01: nothing vanishes. UPG-06: on both engines, to the same schema as an empty database.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from flask import Flask
from pydantic import SecretStr
from sqlalchemy import Engine, make_url, text

import engine.house
from engine.core import clock as engine_clock
from engine.core.clock import FixedClock
from engine.core.db import make_engine
from engine.core.settings import Settings
from engine.house import House
from migrations import run
from tasks.backup import rows
from tests.fixtures.__main__ import FOLDER
from tests.migrations.spelling import columns, definitions
from tests.support.leg_plugin import Leg
from tests.support.stack import OWNER, PASSWORD
from tests.web.support import Reader, links
from web.factory import make_app

REVISIONS: Final = sorted({path.name.partition(".")[0] for path in FOLDER.glob("*.sql")})
RUNS: Final = """
SELECT automation_id, count(*), sum(CASE WHEN status = 'completed' THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END)
FROM automation_runs GROUP BY automation_id ORDER BY automation_id
"""
SHARDS: Final = """
SELECT automation_id, sum(entered), sum(completed), sum(cancelled)
FROM automation_stat_shards GROUP BY automation_id ORDER BY automation_id
"""
STEPS: Final = """
SELECT runs.automation_id, steps.step_key, steps.status, count(*)
FROM automation_step_runs AS steps
JOIN automation_runs AS runs ON runs.id = steps.automation_run_id GROUP BY 1, 2, 3
"""
STATUSES: Final = ("pending", "executing", "completed", "failed", "skipped")


def load(url: str, revision: str, leg: Leg) -> None:
    """Fill an empty database with what was kept of a released version."""
    kind = {"sqlite": "sqlite", "postgres": "postgresql"}[leg]
    script = (FOLDER / f"{revision}.{kind}.sql").read_text()
    address = make_url(url)
    if leg == "sqlite":
        with closing(sqlite3.connect(str(address.database))) as connection:
            connection.executescript(script)
        return
    plain = address.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as session:
        session.execute(script.encode())


def ask(engine: Engine, statement: str) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def counted(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return dict(rows.counted(connection))


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    """Return the schema of a released version."""
    return str(request.param)


@pytest.fixture
def old(empty_database_url: str, revision: str, leg: Leg) -> Iterator[Engine]:
    """Return the database of a released version, not upgraded yet."""
    load(empty_database_url, revision, leg)
    made = make_engine(make_url(empty_database_url))
    yield made
    made.dispose()


@pytest.fixture
def upgraded(old: Engine, tmp_path: Path, empty_database_url: str) -> Iterator[House]:
    """Return the house of this version on that database, at the time when it was left."""
    run.upgrade(old)
    settings = Settings(
        home=tmp_path / "home",
        database_url=SecretStr(empty_database_url),
        secret_key=SecretStr("a secret for tests, 32 characters long"),
        testing=True,
    )
    made = engine.house.start(settings)
    [(left_at,)] = ask(old, "SELECT max(started_at) FROM automation_step_runs")
    at = datetime.fromisoformat(f"{left_at}+00:00") if isinstance(left_at, str) else left_at
    engine_clock.install(FixedClock(at))
    yield made
    made.close()
    engine_clock.install(engine_clock.SystemClock())


def test_the_previous_version_is_kept() -> None:
    assert "0001" in REVISIONS


def test_upg_01_no_row_goes_and_every_counter_equals_its_rows(old: Engine) -> None:
    before = counted(old)
    assert before["automation_runs"] > 50
    run.upgrade(old)
    after = counted(old)
    assert {name: after.get(name) for name in before} == before
    assert run.check(old) == []
    assert [tuple(map(int, row)) for row in ask(old, SHARDS)] == [
        tuple(map(int, row)) for row in ask(old, RUNS)
    ]
    expected = {(*row[:3],): row[3] for row in ask(old, STEPS)}
    names = ", ".join(f"sum({status})" for status in STATUSES)
    stats = ask(
        old, f"SELECT automation_id, step_key, {names} FROM automation_step_stats GROUP BY 1, 2"
    )
    found = {
        (automation, key, status): int(count)
        for automation, key, *counts in stats
        for status, count in zip(STATUSES, counts, strict=True)
        if count
    }
    assert found == expected


def test_upg_01_every_list_and_what_it_leads_to_opens(upgraded: House) -> None:
    app: Flask = make_app(upgraded.runtime)
    reader = Reader(app)
    assert reader.sign_in(OWNER, PASSWORD).status_code == 303
    home = reader.get("/")
    lists = {path for path in links("/", home) if path.count("/") == 1}
    assert {"/people", "/automations", "/runs", "/sends"} <= lists
    refused = {}
    opened = 0
    for path in sorted(lists):
        page = reader.get(path)
        inside = [link for link in links(path, page) if link.startswith(f"{path}/")]
        for address in [path, *sorted(set(inside))[:8]]:
            opened += 1
            status = (page if address == path else reader.get(address)).status_code
            if status >= 400:
                refused[address] = status
    assert refused == {}
    assert opened > 30


def test_upg_01_what_was_under_way_goes_on(upgraded: House) -> None:
    engine_ = upgraded.runtime.database.engine
    before = ask(engine_, "SELECT count(*) FROM email_sends WHERE status = 'queued'")[0][0]
    assert before
    upgraded.steps.sweep()
    upgraded.sends.sweep()
    assert ask(engine_, "SELECT count(*) FROM email_sends WHERE status = 'queued'") < [(before,)]


@pytest.fixture
def fresh(database_url: str) -> Iterator[Engine]:
    """Return a database that was migrated while it was empty."""
    made = make_engine(make_url(database_url))
    yield made
    made.dispose()


def test_upg_06_every_version_leads_to_the_schema_of_an_empty_database(
    old: Engine, fresh: Engine
) -> None:
    run.upgrade(old)
    assert columns(old) == columns(fresh)
    assert definitions(old) == definitions(fresh)
