"""What calls would say, with no socket opened: webhook and Slack in a simulation."""

from typing import Any

import pytest

from engine.automations.document import Document, read_document
from engine.automations.simulating import SimulatedVisit, Trial, simulate
from engine.automations.somebody import of_contact
from engine.core import http
from engine.core.clock import FixedClock
from engine.core.http import installed
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.delivery import LINKS
from tests.factories.world import World


def nobody(*_asked: Any) -> Any:
    raise AssertionError("a socket was opened")


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(uow, clock)
    monkeypatch.setattr(installed, "_client", http.Client(resolve=nobody, connect=nobody))
    return made


def simulated(world: World, kind: str, **config: Any) -> SimulatedVisit:
    step = {"key": "call", "type": kind, "config": config}
    document = read_document(make.document(step))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        who = of_contact(session, world.workspace_id, world.people[0].public_id)
        assert who is not None
        trial = Trial("A1", document, who, world.clock.now(), {"event_properties": '{"sum": 3}'})
        return simulate(session, world.workspace_id, trial, LINKS).visits[0]


def test_a_webhook_says_whom_it_would_tell_and_what(world: World) -> None:
    body = '{"who": "{{ contact.first_name }}", "sum": "{{ event.sum }}"}'
    visit = simulated(world, "webhook", url="https://shop.example:8443/in?key=x", body=body)
    assert visit.result == {
        "would": {
            "method": "POST",
            "host": "shop.example",
            "sends": {"who": "Ada", "sum": "3"},
        }
    }


def test_the_usual_body_says_who_it_is(world: World) -> None:
    visit = simulated(world, "webhook", url="https://shop.example/")
    sends = visit.result["would"]["sends"]
    assert (sends["automation"], sends["step"]) == ("A1", "call")
    assert sends["contact"]["id"] == world.people[0].public_id
    assert sends["event"] == {"sum": 3}


def test_a_webhook_without_an_address_would_fail(world: World) -> None:
    visit = simulated(world, "webhook")
    assert visit.error is not None
    assert visit.error.code == "WEBHOOK_WITHOUT_ADDRESS"


def test_a_message_says_what_it_would_write(world: World) -> None:
    visit = simulated(world, "slack", secret_id="x", text="{{ contact.first_name }}!")
    assert visit.result == {"would": {"sends": {"text": "Ada!"}}}
