"""Idempotency-Key: of many equal POSTs one does the work, and all get its answer (API-02)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from sqlalchemy import func, select

from engine.automations.models import AutomationRun
from engine.core.events import Event
from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import Program, Reply, problem

TIMES: Final = 20
EVENT: Final = {
    "email": "ada@people.example",
    "event_name": "order_placed",
    "event_properties": {"order": "1001"},
    "create_contact_if_not_exists": True,
}
AUTOMATION: Final[dict[str, Any]] = {
    "name": "Orders",
    "trigger": {"type": "event_received", "config": {"event_name": "order_placed"}},
    "steps": [{"key": "wait", "type": "delay", "config": {"duration": 1, "unit": "days"}}],
}


def test_twenty_equal_posts_at_once_are_one_event_and_one_run(
    shop: Program, uow: UnitOfWork
) -> None:
    automation = shop.made("/automations", AUTOMATION)
    moved = shop.post(f"/automations/{automation['id']}/transitions", {"to": "active"})
    assert moved.status_code == 200, moved.text

    def send(_: int) -> Reply:
        return shop.post("/events", EVENT, headers={"Idempotency-Key": "order-1001"})

    with ThreadPoolExecutor(TIMES) as pool:
        answers = list(pool.map(send, range(TIMES)))
    assert [answer.status_code for answer in answers] == [201] * TIMES
    assert len({answer.text for answer in answers}) == 1
    assert answers[0].json["triggered_automations"] == 1
    with uow.read() as session:
        received = select(func.count()).where(Event.kind == "event_received")
        assert session.scalar(received) == 1
        assert session.scalar(select(func.count(AutomationRun.id))) == 1


def test_the_same_key_with_another_body_or_address_is_409(shop: Program) -> None:
    headers = {"Idempotency-Key": "once"}
    first = shop.post("/topics", {"name": "News"}, headers=headers)
    assert first.status_code == 201
    again = shop.post("/topics", {"name": "News"}, headers=headers)
    assert (again.status_code, again.json) == (201, first.json)
    problem(shop.post("/topics", {"name": "Offers"}, headers=headers), 409, "idempotency_mismatch")
    mail = {"email": "ada@people.example"}
    problem(shop.post("/contacts", mail, headers=headers), 409, "idempotency_mismatch")
    assert len(shop.get("/topics").json["items"]) == 1


def test_a_refused_post_leaves_its_key_free(shop: Program) -> None:
    headers = {"Idempotency-Key": "second-try"}
    problem(shop.post("/contacts", {"email": "nobody"}, headers=headers), 422)
    answer = shop.post("/contacts", {"email": "ada@people.example"}, headers=headers)
    assert answer.status_code == 201


def test_keys_of_two_workspaces_do_not_meet(shop: Program, foreign: Program) -> None:
    headers = {"Idempotency-Key": "same"}
    first = shop.post("/topics", {"name": "News"}, headers=headers)
    second = foreign.post("/topics", {"name": "Offers"}, headers=headers)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json["name"] == "Offers"


def test_a_key_must_be_printable_and_of_a_fair_length(shop: Program) -> None:
    for key in ("x" * 256, "caf\xe9"):
        answer = shop.post("/topics", {"name": "News"}, headers={"Idempotency-Key": key})
        problem(answer, 400, "idempotency_key_invalid")
    assert shop.get("/topics").json["items"] == []


def test_without_a_key_every_post_is_its_own(shop: Program) -> None:
    ids = {shop.made("/topics", {"name": "News"})["id"] for _ in range(3)}
    assert len(ids) == 3
