"""HUE-03: a worker is told to end while a mail server holds its answer back."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from tests.factories.automations import document, email
from tests.support.sink import HANG, SmtpSink
from tests.support.stack import Stack
from tests.support.waiting import wait_for

# Longer than a lease lasts.
LAPSE = 130.0


@pytest.fixture
def engine(stack: Stack) -> Iterator[Engine]:
    """Return plain access to the stack's database."""
    made = create_engine(stack.database_url)
    yield made
    made.dispose()


def start(stack: Stack, sink: SmtpSink) -> Any:
    """Start web and worker with a mail on its way to the sink; return the worker."""
    stack.env["STELLWERK_SMTP_URL"] = sink.url
    stack.setup()
    stack.start("web")
    stack.wait_until_ready()
    mail = {"name": "Hello", "subject": "Hello", "html": "<p>Hello</p>"}
    template = stack.api("POST", "/templates", mail).json()["id"]
    made = stack.api("POST", "/automations", document(email("hello", template))).json()["id"]
    stack.api("POST", f"/automations/{made}/transitions", {"to": "active"})
    worker = stack.start("worker")
    body = {"email": "ada@person.example", "event_name": "go", "create_contact_if_not_exists": True}
    assert stack.api("POST", "/events", body).json()["triggered_automations"] == 1
    wait_for(sink.waiting.is_set, "the mail server that holds its answer back", 60)
    return worker


def outcome(engine: Engine) -> tuple[Any, ...]:
    with engine.connect() as connection:
        return tuple(
            connection.execute(text("SELECT status, error_code, attempt FROM email_sends")).one()
        )


@pytest.mark.parametrize("stage", ["rcpt", "body"])
def test_hue_03_a_mail_under_way_is_ended_before_the_worker_is(
    stack: Stack, sink: SmtpSink, engine: Engine, stage: Any
) -> None:
    sink.answer(stage, HANG)
    worker = start(stack, sink)
    worker.terminate()
    wait_for(lambda: "worker_stopping" in stack.logs(), "the worker that hears it", 30)
    assert worker.poll() is None
    sink.release()
    assert worker.wait(30) == 0
    assert outcome(engine) == ("sent", None, 1)
    assert len(sink.mails) == 1


@pytest.mark.parametrize(
    ("stage", "expected"),
    [("rcpt", ("sent", None, 2)), ("body", ("failed", "OUTCOME_UNKNOWN", 1))],
)
def test_hue_03_a_mail_that_outlasts_the_worker_is_sent_again_or_known_to_be_uncertain(
    stack: Stack, sink: SmtpSink, engine: Engine, stage: Any, expected: tuple[Any, ...]
) -> None:
    sink.answer(stage, HANG)
    worker = start(stack, sink)
    worker.terminate()
    assert worker.wait(60) == 0
    sink.release()
    status, _code, attempt = outcome(engine)
    assert (status, attempt) == ("queued", 1)
    stack.move_clock(LAPSE)
    stack.cli("sweep", "sends")
    assert outcome(engine) == expected
    assert len(sink.mails) <= 1
