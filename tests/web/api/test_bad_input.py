"""The bad inputs of the outside world: each a problem document with a pointer, nothing stored."""

from typing import Any

import pytest

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import Program, pointers, problem
from tests.web.support import everything

LARGE = b'{"name": "' + b"x" * 2_000_000 + b'"}'
DELAY: dict[str, Any] = {"duration": 1, "unit": "days"}
LOOP = "{% for i in (1..1000000000) %}x{% endfor %}"


def step(key: str, **more: Any) -> dict[str, Any]:
    """Return a delay step."""
    return {"key": key, "type": "delay", "config": DELAY, **more}


def document(*steps: Any, **more: Any) -> dict[str, Any]:
    """Return an automation document."""
    trigger = {"type": "event_received", "config": {"event_name": "go"}}
    return {"name": "Trial", "trigger": trigger, "steps": list(steps), **more}


def template(**more: Any) -> dict[str, Any]:
    """Return a template."""
    return {"name": "Hello", "subject": "Hello", "html": "<p>Hello</p>", **more}


def event(**more: Any) -> dict[str, Any]:
    """Return an event that would create its contact."""
    known = {"email": "ada@people.example", "event_name": "go"}
    return {**known, "create_contact_if_not_exists": True, **more}


@pytest.mark.parametrize(
    ("path", "body", "wanted"),
    [
        ("/contacts", {"email": "ada@people.example", "colour": "red"}, "/colour"),
        ("/contacts", {"email": 7}, "/email"),
        ("/contacts", {"email": "ada@people.example", "first_name": ["Ada"]}, "/first_name"),
        ("/contacts", {"email": "ada@people.example", "mode": "replace"}, "/mode"),
        ("/contacts", {"email": "ada@people.example\r\nBcc: x@people.example"}, "/email"),
        ("/contacts", {"email": "ada\n@people.example"}, "/email"),
        ("/contacts", {"email": "no address"}, "/email"),
        ("/contacts", {"first_name": "Ada"}, "/email"),
        ("/contacts", {"email": "ada@people.example", "properties": {"x": {}}}, "/properties/x"),
        ("/contacts", {"email": "ada@people.example", "first_name": "A\0"}, "/first_name"),
        ("/contacts", {"email": "ada@people.example", "timezone": "Mars/Base"}, "/timezone"),
        ("/contacts", [], ""),
        ("/contacts", "ada@people.example", ""),
        ("/events", event(extra=1), "/extra"),
        ("/events", event(event_name="1st"), "/event_name"),
        ("/events", event(event_name="go\n"), "/event_name"),
        ("/events", {"email": "ada@people.example"}, "/event_name"),
        ("/events", {"event_name": "go"}, "/email"),
        ("/events", event(email="ada"), "/email"),
        ("/events", event(create_contact_if_not_exists="yes"), "/create_contact_if_not_exists"),
        ("/events", event(create_contact_if_not_exists=1), "/create_contact_if_not_exists"),
        ("/events", event(event_properties={"a": {"b": 1}}), "/event_properties/a"),
        ("/events", event(event_properties={"a": [1]}), "/event_properties/a"),
        ("/events", event(event_properties=[]), "/event_properties"),
        ("/events", event(occurred_at=1_700_000_000), "/occurred_at"),
        ("/events", event(occurred_at="2026-03-02T09:00:00"), "/occurred_at"),
        ("/events", event(occurred_at="0001-01-01T00:00:00+14:00"), "/occurred_at"),
        ("/topics", {"name": ""}, "/name"),
        ("/topics", {"name": "News", "require_double_opt_in": "no"}, "/require_double_opt_in"),
        ("/properties", {"key": "plan", "type": "colour"}, "/type"),
        ("/properties", {"key": "first name", "type": "text"}, "/key"),
        ("/templates", {"name": "Hello", "subject": "Hello"}, "/html"),
        ("/templates", template(subject=""), "/subject"),
        ("/templates", template(purpose="spam"), "/purpose"),
        ("/templates", template(html="<p>{{ contact.first_name </p>"), "/html"),
        ("/templates", template(html="{% if true %}never closed"), "/html"),
        ("/templates", template(subject="{% for %}"), "/subject"),
        ("/templates", template(html=LOOP), "/html"),
        ("/senders", {"email": "no address"}, "/email"),
        ("/sending-domains", {"domain": "no domain", "verify": "attest"}, "/domain"),
        ("/sending-domains", {"domain": "shop.example", "verify": "trust"}, "/verify"),
        ("/automations", document(step("a"), colour="red"), "/colour"),
        ("/automations", document(step("a", next="nowhere")), "/steps/0/next"),
        ("/automations", document(step("a"), step("b", next="a")), "/steps/0/next"),
        ("/automations", document(step("a"), step("a")), "/steps/1/key"),
        ("/automations", document(step("end")), "/steps/0/key"),
        ("/automations", document(*[step(f"s{i}") for i in range(10_000)]), "/steps"),
        ("/automations", document(step("a", type="teleport")), "/steps/0/type"),
        ("/automations", document({"key": "a", "type": "delay"}), "/steps/0/config"),
        ("/automations", document(step("a", config={**DELAY, "x": 1})), "/steps/0/config/x"),
        ("/automations", document(step("a", config={"duration": "3", "unit": "days"})),
         "/steps/0/config/duration"),
        ("/automations", document(on_pause="freeze"), "/on_pause"),
        ("/automations", document(reentry="twice"), "/reentry"),
        ("/automations", {"name": "Trial", "steps": []}, "/trigger"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_where_it_stands(
    shop: Program, uow: UnitOfWork, path: str, body: Any, wanted: str
) -> None:
    before = stored(shop, uow)
    found = problem(shop.post(path, body), 422)
    assert wanted in pointers(found)
    assert stored(shop, uow) == before


@pytest.mark.parametrize("path", ["/contacts", "/events", "/topics", "/templates", "/automations"])
@pytest.mark.parametrize(
    ("raw", "status", "reason"),
    [
        (b"", 400, "not_json"),
        (b"email=ada@people.example", 400, "not_json"),
        (b'{"name": "\xff\xfe"}', 400, "not_utf8"),
        (b'{"name": 1, "name": 2}', 400, "equal_keys"),
        (LARGE, 413, "body_too_large"),
    ],
)
def test_what_is_no_json_of_a_fair_size_is_refused_before_any_schema(
    shop: Program, uow: UnitOfWork, path: str, raw: bytes, status: int, reason: str
) -> None:
    before = stored(shop, uow)
    answer = shop.post(path, raw=raw)
    assert problem(answer, status, reason)["errors"] == []
    assert stored(shop, uow) == before


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("limit=0", "?limit"),
        ("limit=201", "?limit"),
        ("limit=ten", "?limit"),
        ("page=2", "?page"),
        ("cursor=" + "x" * 500, "?cursor"),
        ("cursor=made-up", "?cursor"),
    ],
)
@pytest.mark.parametrize("path", ["/contacts", "/runs", "/sends", "/automations", "/topics"])
def test_a_wrong_query_is_refused(shop: Program, path: str, query: str, pointer: str) -> None:
    assert pointers(problem(shop.get(f"{path}?{query}"), 422)) == [pointer]


def stored(shop: Program, uow: UnitOfWork) -> Any:
    """Return all rows, after a call that lets the key's own traces settle."""
    assert shop.get("/contacts").status_code == 200
    with uow.read() as session:
        return {name: rows for name, rows in everything(session).items() if name != "rate_windows"}
