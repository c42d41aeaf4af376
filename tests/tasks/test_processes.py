"""Real processes: the consumer with the whole timetable, `up` and its children, their ends."""

import os
import signal
import socket
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

from tasks.periodic import JOBS
from tasks.supervisor import SETTLED_S
from tests.support.stack import Stack
from tests.support.waiting import answers, wait_for


@pytest.fixture
def engine(stack: Stack) -> Engine:
    """Return plain access to the stack's database."""
    return create_engine(stack.database_url)


def ask(engine: Engine, statement: str) -> list[tuple[object, ...]]:
    """Return the rows of one statement."""
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def gone(group: int) -> bool:
    """Return whether no process of the group is left."""
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return False
    return True


def test_the_real_consumer_keeps_the_whole_timetable(stack: Stack, engine: Engine) -> None:
    workers = [stack.start("worker") for _ in range(2)]
    wanted = {job.sweep for job in JOBS}
    wait_for(
        lambda: {row[0] for row in ask(engine, "SELECT job FROM ticks")} == wanted,
        "a claimed tick of every job",
        60,
    )
    beats = "SELECT role, name FROM heartbeats"
    wait_for(lambda: len(ask(engine, beats)) == 4, "the heartbeats of both", 60)
    assert sorted(str(row[0]) for row in ask(engine, beats)) == ["timetable"] * 2 + ["worker"] * 2
    assert [stack.stop(process) for process in workers] == [0, 0]
    # One row per job and instant is what "claimed once" means; the sweeps ran in one of them.
    ticks = ask(engine, "SELECT job, instant FROM ticks")
    assert len(ticks) == len(set(ticks))
    assert "Traceback" not in stack.logs()
    engine.dispose()


def test_connections_that_say_nothing_do_not_hold_up_the_end(stack: Stack) -> None:
    stack.setup()
    process = stack.start("web")
    stack.wait_until_ready()
    with ExitStack() as kept:
        for _spare in range(16):
            kept.enter_context(socket.create_connection(("127.0.0.1", stack.port)))
        # Several would be waited for one after the other, five seconds each.
        assert stack.stop(process, 4.5) == 0


def test_a_worker_refuses_an_unknown_queue(stack: Stack) -> None:
    done = stack.try_cli("worker", "--queues", "engine,nonsense")
    assert done.returncode != 0
    assert "transactional" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["up", "web"])
def test_a_taken_port_is_said_in_one_line(stack: Stack, command: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", stack.port))
        taken.listen()
        done = stack.try_cli(command)
    assert done.returncode == 1
    assert str(stack.port) in done.stderr
    assert "--port" in done.stderr
    assert done.stderr.count("\n") == 1


def _children(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(each) for each in listed.split()]


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def test_up_outlives_a_child_and_no_child_outlives_up(stack: Stack, engine: Engine) -> None:
    process = stack.start("up", "--no-demo")
    stack.wait_until_ready()
    wait_for(lambda: _age(engine) > SETTLED_S, "a settled worker", 60)
    [worker] = [child for child in _children(process.pid) if "app worker" in _command(child)]
    os.kill(worker, signal.SIGKILL)
    wait_for(
        lambda: len(ask(engine, "SELECT name FROM heartbeats WHERE role = 'worker'")) == 2,
        "the heartbeat of a second worker",
        60,
    )
    assert "it is started again" in stack.logs()
    process.kill()
    process.wait(30)
    wait_for(lambda: gone(process.pid), "the end of web and worker", 60)
    assert not answers(stack.port)
    engine.dispose()


def _age(engine: Engine) -> float:
    rows = ask(engine, "SELECT started_at, seen_at FROM heartbeats WHERE role = 'worker'")
    if not rows:
        return 0.0
    began, seen = (datetime.fromisoformat(str(value)) for value in rows[0])
    return (seen - began).total_seconds()


def test_the_first_start_makes_an_owner_and_moving_people(stack: Stack, engine: Engine) -> None:
    process = stack.start("up", "--demo")
    stack.wait_until_ready()
    printed = stack.logs()
    assert stack.base_url in printed
    assert "owner@stellwerk.example" in printed
    assert "Password" in printed
    assert ask(engine, "SELECT count(*) FROM automations WHERE status = 'active'") == [(3,)]
    wait_for(
        lambda: ask(engine, "SELECT count(*) FROM email_sends WHERE status = 'sent'") > [(9,)],
        "the first mails",
        60,
    )
    assert stack.stop(process) == 0
    assert gone(process.pid)
    assert not answers(stack.port)
    assert "Stellwerk has stopped." in stack.logs()
    engine.dispose()


def test_a_second_start_changes_nothing_and_ends_on_ctrl_c(stack: Stack, engine: Engine) -> None:
    stack.setup()
    process = stack.start("up", "--demo")
    stack.wait_until_ready()
    assert "Password" not in stack.logs()
    assert ask(engine, "SELECT count(*) FROM contacts") == [(0,)]
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends Ctrl-C to the whole group
    assert process.wait(40) == 0
    assert gone(process.pid)
    assert "Traceback" not in stack.logs()
    engine.dispose()
