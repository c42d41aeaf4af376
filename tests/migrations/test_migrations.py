"""The migrations lead to the schema that the rows describe, on both databases, and back again."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, make_url, text

import engine.house  # noqa: F401 - brings every room's rows
from engine.core.db import Base, make_engine
from migrations import run
from tests.rules.checks.source import ROOT

# The commas between the clauses of a table, not those within parentheses.
_CLAUSES: Final = re.compile(r",(?![^()]*\))")


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Engine]:
    """Return the engine of a database without tables."""
    made = make_engine(make_url(empty_database_url))
    yield made
    made.dispose()


def _definitions(engine: Engine) -> dict[str, str]:
    """Return every index and constraint of the schema as the database itself spells it."""
    if engine.dialect.name == "sqlite":
        query = (
            "SELECT type || ' ' || name, sql FROM sqlite_master"
            " WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'"
        )
    else:
        query = (
            "SELECT 'index ' || indexname, indexdef FROM pg_indexes"
            " WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
            " UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname,"
            " pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE connamespace = 'public'::regnamespace"
            " AND conrelid::regclass::text <> 'alembic_version'"
        )
    with engine.connect() as connection:
        return {name: _spelled(sql) for name, sql in connection.execute(text(query))}


def _spelled(sql: str) -> str:
    """Return a definition without its layout; the clauses of a table come in any order."""
    if not sql.startswith("CREATE TABLE"):
        return " ".join(sql.split())
    name, _, clauses = sql.partition("(")
    # A column that was added later stands behind the last one, on its line.
    parts = (
        " ".join(clause.split()) for clause in _CLAUSES.split(clauses.rstrip().removesuffix(")"))
    )
    return name + ", ".join(sorted(parts))


def _columns(engine: Engine) -> dict[str, list[tuple[str, str, bool]]]:
    looker = inspect(engine)
    return {
        table: sorted(
            (column["name"], str(column["type"]), bool(column["nullable"]))
            for column in looker.get_columns(table)
        )
        for table in looker.get_table_names()
        if table != "alembic_version"
    }


def test_there_is_one_head() -> None:
    assert len(ScriptDirectory(str(run.FOLDER)).get_heads()) == 1


def test_up_down_up_ends_where_it_began(empty: Engine) -> None:
    run.upgrade(empty)
    first = (_columns(empty), _definitions(empty))
    run.downgrade(empty, "base")
    assert _columns(empty) == {}
    run.upgrade(empty)
    assert (_columns(empty), _definitions(empty)) == first


def test_the_comparison_of_alembic_finds_no_difference(empty: Engine) -> None:
    run.upgrade(empty)
    assert run.check(empty) == []


def test_a_schema_that_lags_behind_is_named(empty: Engine) -> None:
    assert run.check(empty)


def test_migrated_and_created_schema_have_the_same_definitions(empty: Engine) -> None:
    run.upgrade(empty)
    migrated = (_columns(empty), _definitions(empty))
    run.downgrade(empty, "base")
    Base.metadata.create_all(empty)
    assert (_columns(empty), _definitions(empty)) == migrated


def test_the_comparison_of_definitions_sees_a_changed_predicate(empty: Engine) -> None:
    run.upgrade(empty)
    before = _definitions(empty)
    with empty.begin() as connection:
        connection.execute(text("DROP INDEX ix_email_sends_due"))
        connection.execute(
            text("CREATE INDEX ix_email_sends_due ON email_sends (pool) WHERE status = 'sent'")
        )
    assert _definitions(empty) != before


def test_a_newer_schema_is_refused_and_left_alone(empty: Engine) -> None:
    run.upgrade(empty)
    with empty.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(run.NewerSchema, match="9999"):
        run.upgrade(empty)
    with empty.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "9999"


MIGRATE = """
import sys
from sqlalchemy import make_url
from engine.core.db import make_engine
from migrations import run
run.upgrade(make_engine(make_url(sys.argv[1])))
"""


def test_several_processes_may_migrate_at_once(empty: Engine, empty_database_url: str) -> None:
    command = [sys.executable, "-c", MIGRATE, empty_database_url]
    together = [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in together] == [0, 0, 0]
    assert run.check(empty) == []
