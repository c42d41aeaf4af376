"""Simulate by API: the way as JSON, for a contact and for a person made up; nothing is written."""

from typing import Any

import pytest

from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as make
from tests.factories import delivery
from tests.support.untouched import untouched
from tests.web.api.support import Program
from tests.web.support import Town


@pytest.fixture
def place(shop: Program, uow: UnitOfWork, acme: Town) -> dict[str, str]:
    """Return the address of a draft with a mail, a wait and a branch, and a contact."""
    with uow.begin() as session:
        delivery.sender(session, acme.workspace_id)
        template = delivery.template(session, acme.workspace_id, html="<p>{{ event.plan }}</p>")
        people.custom_property(session, acme.workspace_id, "seats", "number")
        ada = people.contact(
            session, acme.workspace_id, "ada@people.example", {"seats": 3}, first_name="Ada"
        )
    raw = make.document(
        make.email("hello", template.public_id),
        make.delay("wait", 3),
        make.branch("ada", yes="end"),
        make.delay("more", 2, "hours"),
    )
    made = shop.post("/automations", raw)
    assert made.status_code == 201
    address = f"/automations/{made.json['id']}/simulate"
    return {"address": address, "contact": ada.public_id, "template": template.public_id}


def test_a_contact_goes_through_the_draft(
    shop: Program, uow: UnitOfWork, place: dict[str, str]
) -> None:
    body = {
        "contact_id": place["contact"],
        "event": {"plan": "pro"},
        "at": "2026-03-02T09:00:00Z",
    }
    with untouched(uow):
        answer = shop.post(place["address"], body)
    assert answer.status_code == 200
    found = answer.json
    assert [(step["step"], step["arrives_at"], step["branch"]) for step in found["path"]] == [
        ("hello", "2026-03-02T09:00:00Z", None),
        ("wait", "2026-03-02T09:00:00Z", None),
        ("ada", "2026-03-05T09:00:00Z", "yes"),
    ]
    mail = found["path"][0]["mail"]
    assert (mail["to"], mail["subject"]) == ("ada@people.example", "Hello Ada")
    assert mail["html"] == "<p>pro</p>"
    assert mail["missing"] == []
    assert found["path"][2]["result"]["found"] == "Ada"
    assert (found["ended"], found["total_seconds"]) == ("finished", 3 * 86_400)


def test_a_person_made_up_goes_their_own_way(shop: Program, place: dict[str, str]) -> None:
    person = {"email": "kim@people.example", "first_name": "Kim", "properties": {"seats": 7}}
    found = shop.post(place["address"], {"person": person}).json
    assert [step["step"] for step in found["path"]] == ["hello", "wait", "ada", "more"]
    assert found["path"][0]["mail"]["missing"] == ["event.plan"]


def test_a_person_without_address_fails_at_the_mail(shop: Program, place: dict[str, str]) -> None:
    found = shop.post(place["address"], {"person": {"first_name": "Kim"}}).json
    assert found["ended"] == "step_failed"
    assert found["path"][0]["error"] == {
        "code": "NO_ADDRESS",
        "message": "Contact has no email address",
    }


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({}, 422, "contact_required"),
        ({"contact_id": "nobody"}, 404, "contact_not_found"),
        ({"person": {"email": "no address"}}, 422, "invalid_contact"),
        ({"person": {"properties": {"unknown": 1}}}, 422, "invalid_contact"),
        ({"person": {"age": 3}}, 422, "invalid_input"),
    ],
)
def test_what_cannot_be_tried_is_refused(
    shop: Program, place: dict[str, str], body: dict[str, Any], status: int, reason: str
) -> None:
    answer = shop.post(place["address"], body)
    assert (answer.status_code, answer.json["reason"]) == (status, reason)
    assert answer.json["detail"]


def test_an_unknown_or_foreign_automation_is_not_found(
    shop: Program, foreign: Program, place: dict[str, str]
) -> None:
    body = {"person": {"first_name": "Kim"}}
    assert foreign.post(place["address"], body).status_code == 404
    assert shop.post("/automations/nothing/simulate", body).status_code == 404
