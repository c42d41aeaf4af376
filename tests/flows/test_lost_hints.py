"""Hints may be lost at any moment: with 40 runs under way the queue is emptied, and all end."""

from typing import Any

import redis
from sqlalchemy import create_engine, func, select

from engine.automations.models import COMPLETED, AutomationRun
from engine.delivery.models import EmailSend
from tests.factories.automations import delay, document, email
from tests.support.stack import Stack
from tests.support.waiting import wait_for

PEOPLE = 40


def _post(stack: Stack, path: str, body: dict[str, Any]) -> Any:
    answer = stack.api("POST", path, body)
    assert answer.status in (200, 201), answer.body
    return answer.json()


def _live(stack: Stack) -> None:
    """Create and activate: mail, a short wait, mail, another wait."""
    mail = {"name": "Hello", "subject": "Hello", "html": "<p>Hello</p>", "allow_repeat": True}
    template = _post(stack, "/templates", mail)["id"]
    steps = (
        email("first", template),
        delay("wait", 0.05, "minutes"),
        email("second", template),
        delay("more", 0.05, "minutes"),
    )
    made = _post(stack, "/automations", document(*steps))
    _post(stack, f"/automations/{made['id']}/transitions", {"to": "active"})


def _fire(stack: Stack) -> None:
    for number in range(PEOPLE):
        body = {
            "email": f"p{number}@person.example",
            "event_name": "go",
            "create_contact_if_not_exists": True,
        }
        assert _post(stack, "/events", body)["triggered_automations"] == 1


def _empty_the_queue(stack: Stack) -> None:
    """Delete the queue's file, or flush Redis, as an operator in a hurry would."""
    url = stack.env.get("STELLWERK_REDIS_URL")
    if url:
        redis.Redis.from_url(url).flushall()
        return
    for file in stack.home.glob("queue.db*"):
        file.unlink()


def _count(stack: Stack, statement: Any) -> int:
    engine = create_engine(stack.database_url)
    try:
        with engine.connect() as connection:
            return int(connection.execute(statement).scalar_one())
    finally:
        engine.dispose()


def _ended(stack: Stack) -> int:
    completed = AutomationRun.status == COMPLETED
    return _count(stack, select(func.count(AutomationRun.id)).where(completed))


def test_a_flushed_queue_loses_nobody_and_doubles_nothing(stack: Stack) -> None:
    stack.up()
    _live(stack)
    _fire(stack)
    _empty_the_queue(stack)
    wait_for(lambda: _ended(stack) == PEOPLE, "all runs to end by sweeps", 200)
    assert _count(stack, select(func.count(EmailSend.id))) == 2 * PEOPLE


def test_sweeps_alone_end_every_run(stack: Stack) -> None:
    stack.setup()
    stack.start("web")
    stack.wait_until_ready()
    _live(stack)
    _fire(stack)
    _empty_the_queue(stack)

    def swept() -> bool:
        stack.cli("sweep", "steps")
        stack.cli("sweep", "sends")
        return _ended(stack) == PEOPLE

    wait_for(swept, "all runs to end by sweeps", 120)
    queued = select(func.count(EmailSend.id)).where(EmailSend.status == "queued")
    wait_for(lambda: stack.cli("sweep", "sends") and _count(stack, queued) == 0, "all mails", 60)
