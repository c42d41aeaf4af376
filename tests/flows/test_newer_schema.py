"""UPG-05: an older program beside a database that a newer one has upgraded."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, text

from tasks.worker import OUTDATED
from tests.support.stack import Stack
from tests.support.visitor import Visitor
from tests.support.waiting import wait_for


@pytest.fixture
def engine(stack: Stack) -> Iterator[Engine]:
    """Return plain access to the stack's database."""
    made = create_engine(stack.database_url)
    yield made
    made.dispose()


def upgrade_by_a_newer_program(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))


def beating(engine: Engine) -> bool:
    with engine.connect() as connection:
        return bool(connection.scalar(text("SELECT count(*) FROM heartbeats")))


def claimed(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.scalar(text("SELECT count(*) FROM ticks")) or 0


def test_upg_05_a_running_worker_stops_and_is_not_started_again_and_the_console_says_so(
    stack: Stack, engine: Engine
) -> None:
    stack.up()
    [up] = stack.processes
    wait_for(lambda: beating(engine), "a worker", 60)
    upgrade_by_a_newer_program(engine)
    wait_for(lambda: "is not started again" in stack.logs(), "the end of the worker", 60)
    before = claimed(engine)
    assert stack.logs().count('"schema_newer"') == 1
    assert stack.logs().count("worker_started") == 1
    assert "9999" in stack.logs()
    said = Visitor(stack).sign_in().text_content()
    assert "A newer Stellwerk has upgraded the database (schema 9999)" in said
    assert up.poll() is None
    assert claimed(engine) == before
    assert stack.stop(up) == 0
    assert "Traceback" not in stack.logs()


def test_upg_05_a_worker_alone_ends_with_a_code_of_its_own(stack: Stack, engine: Engine) -> None:
    stack.setup()
    worker = stack.start("worker")
    wait_for(lambda: beating(engine), "a worker", 60)
    upgrade_by_a_newer_program(engine)
    # The heart asks every five seconds; three more are left to what is under way.
    assert worker.wait(30) == OUTDATED
    assert stack.logs().count('"schema_newer"') == 1
    assert "Traceback" not in stack.logs()


@pytest.mark.parametrize("command", ["up", "web", "worker", "sweep steps"])
def test_upg_05_an_older_program_does_not_even_start(
    stack: Stack, engine: Engine, command: str
) -> None:
    stack.setup()
    upgrade_by_a_newer_program(engine)
    done = stack.try_cli(*command.split())
    assert done.returncode == 1
    assert "9999" in done.stderr
    assert "newer Stellwerk" in done.stderr
    assert done.stderr.count("\n") == 1
