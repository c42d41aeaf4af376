"""`stellwerk doctor`: one line a check, code 1 on a fault."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from engine.core import ticks
from engine.core.boot import Runtime
from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.house import House
from tasks.commands.doctor import (
    CHECKS,
    Check,
    check_clock,
    check_database,
    check_mail,
    check_queue,
    check_settings,
    check_workers,
)
from tests.support.sink import SmtpSink
from tests.support.stack import Stack
from tests.tasks.commands.conftest import Cli

NOWHERE = SecretStr("redis://:p^V&X@127.0.0.1:9/0")


@pytest.fixture
def runtime(house: House) -> Runtime:
    """Return the floor of the started house."""
    return house.runtime


def with_settings(runtime: Runtime, **changed: object) -> Runtime:
    """Return the same floor under other settings."""
    settings = Settings.model_validate({**dict(runtime.settings), **changed})
    return Runtime(settings, runtime.database, runtime.uow, runtime.secret_key)


def beat(runtime: Runtime, clock: FixedClock, roles: Sequence[str]) -> None:
    """Leave a heartbeat of each role."""
    with runtime.uow.begin() as session:
        for role in roles:
            ticks.beat(session, role, f"{role}-1", clock.now())


@pytest.mark.parametrize("check", [check_settings, check_database, check_queue, check_mail])
def test_what_is_in_order_is_sound(runtime: Runtime, check: Check) -> None:
    finding = check(runtime)
    assert finding.sound, finding.words
    assert "\n" not in finding.words


def test_a_database_that_is_away_is_a_fault(runtime: Runtime) -> None:
    with runtime.database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    finding = check_database(runtime)
    assert not finding.sound
    assert "newer" in finding.words


def test_an_old_schema_is_a_fault_with_its_remedy(runtime: Runtime) -> None:
    with runtime.database.engine.begin() as connection:
        connection.execute(text("DELETE FROM alembic_version"))
    finding = check_database(runtime)
    assert not finding.sound
    assert "stellwerk db upgrade" in finding.words


def test_a_queue_that_is_away_is_a_fault(runtime: Runtime) -> None:
    finding = check_queue(with_settings(runtime, redis_url=NOWHERE))
    assert not finding.sound
    assert "check STELLWERK_REDIS_URL" in finding.words
    assert "p^V&X" not in finding.words


@pytest.mark.parametrize(
    ("roles", "age", "sound", "said"),
    [
        ((), 0, False, "worker not running, timetable not running"),
        (("worker",), 0, False, "worker alive, timetable not running"),
        (("worker", "timetable"), 60, True, "worker alive, timetable alive"),
        (("worker", "timetable"), 61, False, "worker seen 2026-03-02 09:00:00 UTC"),
    ],
)
def test_workers_are_sound_while_their_hearts_beat(
    runtime: Runtime, clock: FixedClock, roles: Sequence[str], age: int, sound: bool, said: str
) -> None:
    beat(runtime, clock, roles)
    clock.advance(timedelta(seconds=age))
    finding = check_workers(runtime)
    assert finding.sound is sound
    assert said in finding.words


def test_a_mail_server_that_answers_is_sound(runtime: Runtime, sink: SmtpSink) -> None:
    finding = check_mail(with_settings(runtime, smtp_url=SecretStr(sink.url)))
    assert finding.sound, finding.words


def test_a_mail_server_that_is_away_is_a_fault(runtime: Runtime) -> None:
    away = SecretStr("smtp://ada:p%5EV@127.0.0.1:9")
    finding = check_mail(with_settings(runtime, smtp_url=away))
    assert not finding.sound
    assert "check STELLWERK_SMTP_URL" in finding.words
    assert "p%5EV" not in finding.words
    assert "p^V" not in finding.words


def test_the_clock_of_the_machine_is_sound_and_a_drifted_one_is_not(
    runtime: Runtime, clock: FixedClock
) -> None:
    at_start = check_clock(runtime)
    # The standing clock of tests is far from the database's; SQLite has no clock of its own.
    assert at_start.sound is (runtime.database.engine.dialect.name == "sqlite")


def test_a_moved_clock_is_named(runtime: Runtime) -> None:
    moved = with_settings(runtime, test_clock=runtime.settings.home / "clock")
    finding = check_clock(moved)
    assert finding.sound
    assert "STELLWERK_TEST_CLOCK" in finding.words


def test_doctor_names_each_fault_and_ends_with_one(cli: Cli) -> None:
    done = cli.run("doctor")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert [line[7:18].strip() for line in lines] == list(CHECKS)
    assert [line[18:].startswith("worker not running") for line in lines if "FAULT" in line] == [
        True
    ]
    assert done.stderr == "stellwerk: found a fault in workers; see the lines above.\n"


def test_doctor_is_content_with_a_running_installation(stack: Stack) -> None:
    stack.up()
    done = stack.try_cli("doctor")
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
    assert done.stdout.count("ok ") == len(CHECKS)
