"""Backups while events come in and mails leave; each restored elsewhere, whole and alive."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from tests.factories.automations import delay, document, email
from tests.support.stack import Stack
from tests.support.waiting import wait_for

WRITERS = 2
# What is true of every instant of a database that walks exactly (architecture 3).
ALWAYS = {
    "a running run without a step under way": """
        SELECT count(*) FROM automation_runs AS runs WHERE status = 'running' AND NOT EXISTS (
            SELECT 1 FROM automation_step_runs AS steps WHERE steps.automation_run_id = runs.id
            AND steps.status IN ('pending', 'executing'))""",
    "an ended run with a step under way": """
        SELECT count(*) FROM automation_runs AS runs WHERE status <> 'running' AND EXISTS (
            SELECT 1 FROM automation_step_runs AS steps WHERE steps.automation_run_id = runs.id
            AND steps.status IN ('pending', 'executing'))""",
    "a mail step that names no mail": """
        SELECT count(*) FROM automation_step_runs WHERE status = 'completed'
        AND step_type = 'email' AND email_send_id IS NULL""",
    "a contact without an event": """
        SELECT count(*) FROM contacts WHERE NOT EXISTS (
            SELECT 1 FROM automation_runs AS runs WHERE runs.contact_id = contacts.id)""",
}


@pytest.fixture
def elsewhere(tmp_path: Path, empty_database_url: str, redis_url: str | None) -> Iterator[Stack]:
    """Return another machine: an empty HOME and an empty database."""
    made = Stack(tmp_path / "elsewhere", empty_database_url, redis_url)
    yield made
    made.close()


def live(stack: Stack) -> None:
    mail = {"name": "Hello", "subject": "Hello", "html": "<p>Hello</p>", "allow_repeat": True}
    made = stack.api("POST", "/templates", mail)
    assert made.status == 201, made.body
    template = made.json()["id"]
    steps = (email("first", template), delay("wait", 0.05, "minutes"), email("second", template))
    automation = stack.api("POST", "/automations", document(*steps)).json()["id"]
    moved = stack.api("POST", f"/automations/{automation}/transitions", {"to": "active"})
    assert moved.status == 200, moved.body


def fire(stack: Stack, person: str) -> int:
    body = {"email": person, "event_name": "go", "create_contact_if_not_exists": True}
    return stack.api("POST", "/events", body).status


@contextmanager
def writing(stack: Stack) -> Iterator[Callable[[], int]]:
    """Post events from several threads until the block ends; yields how many were taken so far."""
    taken: list[int] = []
    over = threading.Event()

    def post(writer: int) -> None:
        number = 0
        while not over.is_set():
            taken.append(fire(stack, f"p{writer}-{number}@person.example"))
            number += 1

    threads = [threading.Thread(target=post, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield lambda: len(taken)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert set(taken) == {201}


def _more_than(enough: int, taken: Callable[[], int]) -> bool:
    return taken() > enough


def ask(engine: Engine, statement: str) -> Any:
    with engine.connect() as connection:
        return connection.execute(text(statement)).scalar_one()


def test_backups_while_everything_runs_are_whole_and_go_on(
    stack: Stack, elsewhere: Stack, tmp_path: Path
) -> None:
    stack.up()
    live(stack)
    files = [tmp_path / f"backup-{number}" for number in range(2)]
    with writing(stack) as taken:
        for file in files:
            enough = taken() + 15
            wait_for(partial(_more_than, enough, taken), "more events", 60)
            stack.cli("backup", str(file))
    for process in stack.processes:
        stack.stop(process)
    engine = create_engine(elsewhere.database_url)
    people = [0]
    for file in files:
        elsewhere.cli("restore", "--replace", str(file))
        assert {what: ask(engine, count) for what, count in ALWAYS.items()} == dict.fromkeys(
            ALWAYS, 0
        )
        people.append(ask(engine, "SELECT count(*) FROM contacts"))
        engine.dispose()
    assert people == sorted(set(people))
    _goes_on(elsewhere, engine, people[-1])


def _goes_on(stack: Stack, engine: Engine, people: int) -> None:
    """Start the restored installation; every run in it must end, each mail be there once."""
    stack.start("up", "--no-demo")
    stack.wait_until_ready()
    running = "SELECT count(*) FROM automation_runs WHERE status = 'running'"
    wait_for(lambda: ask(engine, running) == 0, "the end of every run", 200)
    waiting = "SELECT count(*) FROM email_sends WHERE status = 'queued'"
    wait_for(lambda: ask(engine, waiting) == 0, "the end of every mail", 200)
    assert ask(engine, "SELECT count(*) FROM automation_runs") == people
    # A mail that was being handed over at that instant is nobody's to send again (decision C3).
    ended = "SELECT count(*) FROM email_sends WHERE status = 'sent' OR error_code = '{}'"
    assert ask(engine, ended.format("OUTCOME_UNKNOWN")) == 2 * people
    doubled = "SELECT count(*) - count(DISTINCT automation_run_id || step_key) FROM "
    assert ask(engine, doubled + "automation_step_runs") == 0
    assert "Traceback" not in stack.logs()
    engine.dispose()
