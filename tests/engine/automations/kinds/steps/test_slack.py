"""Writing into a channel: the address is a secret, and nothing of the answer is kept."""

import json
from typing import Any

import pytest

from engine.accounts.service.secrets import ADDRESS
from engine.automations import checking
from engine.automations.document import Document, read_document
from engine.core import http
from engine.core.clock import FixedClock
from engine.core.http import installed
from engine.core.outcome import Problem, Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.secrets import secret
from tests.factories.world import World
from tests.support.receiver import Receiver


def write(secret_id: str | None, text: str | None = "{{ contact.first_name }} paid") -> Any:
    return {"key": "say", "type": "slack", "config": {"secret_id": secret_id, "text": text}}


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(uow, clock)
    monkeypatch.setattr(installed, "_client", http.Client(("127.0.0.1",), seconds=2))
    return made


@pytest.fixture
def channel(world: World, receiver: Receiver) -> str:
    with world.uow.begin() as session:
        address = f"{receiver.url}/services/T0/secret-part"
        return secret(session, world.workspace_id, "Sales", ADDRESS, address).public_id


def test_a_line_is_written_and_the_address_shows_nowhere(
    world: World, receiver: Receiver, channel: str
) -> None:
    automation = world.live(write(channel))
    world.fire()
    world.walker.sweep()
    [request] = receiver.received
    assert request.path == "/services/T0/secret-part"
    assert request.json == {"text": "Ada paid"}
    [visit] = world.visits(automation)
    assert visit.status == "completed"
    assert (visit.result or {})["status"] == 200
    assert "secret-part" not in json.dumps([visit.result, visit.failures])
    with world.uow.read() as session:
        assert_books(session)


def test_a_channel_that_says_no_is_tried_again_without_its_words(
    world: World, receiver: Receiver, channel: str
) -> None:
    receiver.status, receiver.body = 404, b"no_service secret-part"
    automation = world.live(write(channel))
    world.fire()
    world.walker.sweep()
    [visit] = world.visits(automation)
    assert visit.failures is not None
    [entry] = visit.failures
    assert (entry["code"], entry["detail"]) == ("WEBHOOK_REFUSED", {"status": 404})


def test_without_its_address_nothing_is_written(world: World, receiver: Receiver) -> None:
    with world.uow.begin() as session:
        signing = secret(session, world.workspace_id).public_id
    document = read_document(
        make.document(write(None, None), write(signing) | {"key": "b"}, write("x") | {"key": "c"})
    )
    assert isinstance(document, Document)
    with world.uow.read() as session:
        found = checking.errors(session, world.workspace_id, document)
    assert found == [
        Problem("/steps/0/config/secret_id", "channel_missing"),
        Problem("/steps/0/config/text", "text_missing"),
        Problem("/steps/1/config/secret_id", "secret_gone"),
        Problem("/steps/2/config/secret_id", "secret_gone"),
    ]
    assert receiver.received == []


def test_a_text_that_is_no_liquid_is_refused_on_save() -> None:
    refused = read_document(make.document(write("x", "{{ contact.")))
    assert isinstance(refused, Refused)
    assert [problem.code for problem in refused.problems] == ["template_broken"]
