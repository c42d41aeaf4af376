"""The migrations lead to the schema that the rows describe, on both databases, and back again."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, make_url, text

import engine.house  # noqa: F401 - brings every room's rows
from engine.core.db import Base, make_engine
from migrations import run
from tests.migrations.spelling import columns, definitions
from tests.rules.checks.source import ROOT


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Engine]:
    """Return the engine of a database without tables."""
    made = make_engine(make_url(empty_database_url))
    yield made
    made.dispose()


def test_there_is_one_head() -> None:
    assert len(ScriptDirectory(str(run.FOLDER)).get_heads()) == 1


def test_up_down_up_ends_where_it_began(empty: Engine) -> None:
    run.upgrade(empty)
    first = (columns(empty), definitions(empty))
    run.downgrade(empty, "base")
    assert columns(empty) == {}
    run.upgrade(empty)
    assert (columns(empty), definitions(empty)) == first


def test_the_comparison_of_alembic_finds_no_difference(empty: Engine) -> None:
    run.upgrade(empty)
    assert run.check(empty) == []


def test_a_schema_that_lags_behind_is_named(empty: Engine) -> None:
    assert run.check(empty)


def test_migrated_and_created_schema_have_the_same_definitions(empty: Engine) -> None:
    run.upgrade(empty)
    migrated = (columns(empty), definitions(empty))
    run.downgrade(empty, "base")
    Base.metadata.create_all(empty)
    assert (columns(empty), definitions(empty)) == migrated


def test_the_comparison_of_definitions_sees_a_changed_predicate(empty: Engine) -> None:
    run.upgrade(empty)
    before = definitions(empty)
    with empty.begin() as connection:
        connection.execute(text("DROP INDEX ix_email_sends_due"))
        connection.execute(
            text("CREATE INDEX ix_email_sends_due ON email_sends (pool) WHERE status = 'sent'")
        )
    assert definitions(empty) != before


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
from tests.migrations.spelling import columns, definitions
run.upgrade(make_engine(make_url(sys.argv[1])))
"""


def test_several_processes_may_migrate_at_once(empty: Engine, empty_database_url: str) -> None:
    command = [sys.executable, "-c", MIGRATE, empty_database_url]
    together = [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in together] == [0, 0, 0]
    assert run.check(empty) == []
