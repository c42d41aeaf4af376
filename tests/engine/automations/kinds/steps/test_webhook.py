"""Telling servers of others: what is sent and signed, what an answer comes to, what is refused."""

import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from sqlalchemy import select

from engine.accounts.models import Secret
from engine.accounts.service.secrets import ADDRESS
from engine.automations.models import Automation
from engine.core import crypto, http
from engine.core.clock import FixedClock
from engine.core.http import installed
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.secrets import secret
from tests.factories.world import World
from tests.support.receiver import Receiver, dripping
from tests.support.waiting import free_port


def hook(url: str | None, **config: Any) -> dict[str, Any]:
    return {"key": "tell", "type": "webhook", "config": {"url": url, **config}}


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(uow, clock)
    monkeypatch.setattr(installed, "_client", http.Client(("127.0.0.1",), seconds=2))
    return made


def told(world: World, *steps: dict[str, Any]) -> Automation:
    """Return an automation that its one person has walked until nothing is due."""
    automation = world.live(*steps)
    world.fire()
    world.walker.sweep()
    return automation


def again(world: World, automation: Automation) -> None:
    """Walk on when the next try is due."""
    due = world.visits(automation)[0].due_at
    world.clock.advance(max(due - world.clock.now(), timedelta(0)))
    world.walker.sweep()


def failure(world: World, automation: Automation) -> dict[str, Any]:
    visit = world.visits(automation)[0]
    assert visit.failures
    return dict(visit.failures[-1])


def test_a_server_is_told_who_and_why_and_its_answer_is_kept(
    world: World, receiver: Receiver
) -> None:
    receiver.body = b'{"ok": "\xc3\xa4\x00"}'
    automation = told(world, hook(f"{receiver.url}/in?a=b"))
    [request] = receiver.received
    assert (request.method, request.path) == ("POST", "/in?a=b")
    assert request.headers["content-type"] == "application/json"
    sent = request.json
    assert sent["contact"]["id"] == world.people[0].public_id
    assert sent["contact"]["first_name"] == "Ada"
    assert (sent["automation"], sent["step"]) == (automation.public_id, "tell")
    result = world.visits(automation)[0].result or {}
    assert (result["status"], result["body"]) == (200, '{"ok": "ä"}')
    assert result["took_ms"] >= 0
    assert world.run(automation).status == "completed"
    with world.uow.read() as session:
        assert_books(session)


def test_whk_05_a_server_that_says_yes_is_called_once(world: World, receiver: Receiver) -> None:
    automation = told(world, hook(receiver.url), make.delay("later"))
    for _ in range(5):
        world.walker.sweep()
        world.clock.advance(timedelta(minutes=5))
    assert len(receiver.received) == 1
    assert world.visits(automation)[0].status == "completed"


def test_api_05_the_event_keeps_its_id_over_tries_and_each_delivery_has_its_own(
    world: World, receiver: Receiver
) -> None:
    receiver.status, receiver.body = 503, b"later"
    automation = told(world, hook(receiver.url))
    assert failure(world, automation)["code"] == "WEBHOOK_REFUSED"
    assert failure(world, automation)["detail"] == {"status": 503, "body": "later"}
    receiver.status = 200
    again(world, automation)
    first, second = (request.headers for request in receiver.received)
    assert first["x-stellwerk-event"] == second["x-stellwerk-event"] == first["idempotency-key"]
    deliveries = {each["x-stellwerk-delivery"] for each in (first, second)}
    assert deliveries == {f"{first['x-stellwerk-event']}.{number}" for number in (1, 2)}
    assert (first["x-stellwerk-attempt"], second["x-stellwerk-attempt"]) == ("1", "2")
    assert world.visits(automation)[0].status == "completed"


def test_a_worker_lost_behind_the_call_tells_the_same_event_again(
    world: World, receiver: Receiver
) -> None:
    automation = world.live(hook(receiver.url))
    world.fire()
    items = world.walker.claim([world.visits(automation)[0].id], 1)
    world.walker.run(items)
    world.clock.advance(timedelta(seconds=121))
    world.walker.sweep()
    first, second = (request.headers for request in receiver.received)
    assert first["x-stellwerk-event"] == second["x-stellwerk-event"]
    assert first["x-stellwerk-delivery"] != second["x-stellwerk-delivery"]
    assert world.visits(automation)[0].status == "completed"


def test_a_server_that_says_no_four_times_fails_the_step(world: World, receiver: Receiver) -> None:
    receiver.status = 400
    automation = told(world, hook(receiver.url))
    for _ in range(4):
        again(world, automation)
    assert len(receiver.received) == 4
    assert world.visits(automation)[0].status == "failed"
    assert world.run(automation).error_code == "WEBHOOK_REFUSED"


def test_a_body_of_ones_own_is_json_whatever_a_name_holds(world: World, receiver: Receiver) -> None:
    nasty = 'A"},{"\\u0000 {{ contact.id }}'
    with world.uow.begin() as session:
        world.people = [audience.contact(session, world.workspace_id, first_name=nasty)]
    body = '{"who": "{{ contact.first_name }}", "list": ["{{ contact.id }}", 3, null, true]}'
    told(world, hook(receiver.url, method="PUT", body=body, headers={"X-Team": "sales"}))
    [request] = receiver.received
    assert request.method == "PUT"
    assert request.headers["x-team"] == "sales"
    assert request.json == {"who": nasty, "list": [world.people[0].public_id, 3, None, True]}


def test_a_call_is_signed_over_time_and_body_and_its_secret_noted_as_used(
    world: World, receiver: Receiver
) -> None:
    with world.uow.begin() as session:
        made = secret(session, world.workspace_id)
    automation = told(world, hook(receiver.url, secret_id=made.public_id))
    [request] = receiver.received
    stamp = request.headers["x-stellwerk-timestamp"]
    assert stamp == str(int(world.clock.now().timestamp()))
    text = stamp.encode() + b"." + request.body
    expected = hmac.new(made.value.encode(), text, hashlib.sha256).hexdigest()
    assert request.headers["x-stellwerk-signature"] == f"t={stamp},v1={expected}"
    with world.uow.read() as session:
        assert session.scalars(select(Secret.last_used_at)).one() == world.clock.now()
    assert made.value not in json.dumps(world.visits(automation)[0].result)


@pytest.mark.parametrize("gone", ["deleted", "another kind", "another key"])
def test_a_secret_that_cannot_be_had_fails_the_step_and_nobody_is_told(
    world: World, receiver: Receiver, gone: str
) -> None:
    with world.uow.begin() as session:
        made = secret(session, world.workspace_id)
    automation = world.live(hook(receiver.url, secret_id=made.public_id))
    with world.uow.begin() as session:
        row = session.scalars(select(Secret)).one()
        if gone == "deleted":
            session.delete(row)
        elif gone == "another kind":
            row.kind = ADDRESS
        else:
            row.sealed = crypto.seal("whsec", "something else")
    world.fire()
    world.walker.sweep()
    code = "SECRET_UNREADABLE" if gone == "another key" else "SECRET_NOT_FOUND"
    assert failure(world, automation)["code"] == code
    assert receiver.received == []


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9/", "http://0x7f000001:9/", "http://[::1]:9/", "http://inner.example/"],
)
def test_whk_01_nothing_inside_is_called_and_the_step_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    def connect(*_asked: Any) -> Any:
        raise AssertionError("connected")

    inside = {"inner.example": "10.0.0.7", "::1": "::1"}
    client = http.Client(
        resolve=lambda host, _port: [inside.get(host, "127.0.0.1")], connect=connect
    )
    monkeypatch.setattr(installed, "_client", client)
    automation = told(world, hook(url))
    assert failure(world, automation)["code"] == "ADDRESS_NOT_ALLOWED"
    assert "detail" not in failure(world, automation)


def test_whk_01_a_redirect_that_leads_inside_is_not_followed(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.status, receiver.headers = 302, {"Location": "http://inner.example/"}
    addresses = {"front.example": ["127.0.0.1"], "inner.example": ["10.0.0.7"]}
    asked: list[str] = []

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return addresses[host]

    client = http.Client(("front.example",), resolve=resolve)
    monkeypatch.setattr(installed, "_client", client)
    automation = told(world, hook(f"http://front.example:{receiver.port}/"))
    assert failure(world, automation)["code"] == "ADDRESS_NOT_ALLOWED"
    assert asked == ["front.example", "inner.example"]


def test_whk_03_an_open_and_a_closed_port_read_alike(world: World, receiver: Receiver) -> None:
    def garbage(put: Callable[[bytes], None], _over: Event) -> None:
        put(b"220 mail ready\r\n")

    receiver.script = garbage
    found = []
    for url in (receiver.url, f"http://127.0.0.1:{free_port()}/"):
        automation = told(world, hook(url))
        entry = failure(world, automation)
        found.append((entry["code"], entry["message"], entry.get("detail")))
        with world.uow.begin() as session:
            row = session.get(Automation, automation.id)
            assert row is not None
            row.trigger_type = "contact_created"
    assert found == [("WEBHOOK_UNREACHABLE", "The server could not be reached", None)] * 2


def test_whk_08_a_drip_ends_at_the_deadline_and_a_flood_is_cut(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "_client", http.Client(("127.0.0.1",), seconds=0.5))
    receiver.script = dripping(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    automation = told(world, hook(receiver.url))
    assert failure(world, automation)["code"] == "WEBHOOK_UNREACHABLE"

    def flood(put: Callable[[bytes], None], over: Event) -> None:
        put(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
        while not over.is_set():
            put(b"x" * 65_536)

    receiver.script = flood
    again(world, automation)
    result = world.visits(automation)[0].result or {}
    assert (result["status"], result["body"]) == (200, "x" * 4_096)
