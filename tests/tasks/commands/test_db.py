"""`stellwerk db`: upgrade and check."""

import pytest
from sqlalchemy import text

from engine.core.db import make_engine
from tests.tasks.commands.conftest import Cli


@pytest.fixture
def empty(cli: Cli, empty_database_url: str) -> Cli:
    """Return an installation whose database has no table yet."""
    cli.env["STELLWERK_DATABASE_URL"] = empty_database_url
    return cli


def test_check_sends_an_old_schema_to_upgrade(empty: Cli) -> None:
    assert "run `stellwerk db upgrade`" in empty.refused("db", "check")


def test_upgrade_makes_the_schema_fit_and_may_be_repeated(empty: Cli) -> None:
    for _ in range(2):
        assert empty("db", "upgrade") == "The schema is up to date.\n"
    assert "schema fits" in empty("db", "check")


def test_check_names_what_differs(cli: Cli) -> None:
    engine = make_engine(cli.database)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE stray (id INTEGER)"))
    engine.dispose()
    assert "stray" in cli.refused("db", "check")


@pytest.mark.parametrize("command", ["upgrade", "check"])
def test_a_newer_schema_is_refused(cli: Cli, command: str) -> None:
    engine = make_engine(cli.database)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    assert "made by a newer Stellwerk" in cli.refused("db", command)
