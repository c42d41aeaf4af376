"""POST /events: the order of its checks, what it creates, and what it starts."""

import pytest

from tests.web.api.seeds import DOCUMENT
from tests.web.api.support import Program, problem

GO = {"email": "ada@people.example", "event_name": "trial_started"}


def test_an_event_of_a_known_contact_is_recorded(shop: Program) -> None:
    person = shop.made("/contacts", {"email": "ada@people.example"})["id"]
    made = shop.made("/events", {**GO, "email": " Ada@People.EXAMPLE "})
    assert made["event_id"].startswith("evt_")
    assert made == {
        "event_id": made["event_id"],
        "contact_id": person,
        "event_name": "trial_started",
        "triggered_automations": 0,
        "contact_created": False,
    }


def test_an_event_of_a_stranger_is_404_unless_it_may_create_the_contact(shop: Program) -> None:
    problem(shop.post("/events", GO), 404, "contact_not_found")
    problem(
        shop.post("/events", {**GO, "create_contact_if_not_exists": False}),
        404,
        "contact_not_found",
    )
    assert shop.get("/contacts").json["items"] == []
    made = shop.made("/events", {**GO, "create_contact_if_not_exists": True})
    assert made["contact_created"] is True
    assert shop.get(f"/contacts/{made['contact_id']}").json["email"] == GO["email"]


def test_one_event_can_start_two_automations(shop: Program) -> None:
    created = {**DOCUMENT, "trigger": {"type": "contact_created"}}
    for document in (DOCUMENT, created):
        automation = shop.made("/automations", document)["id"]
        moved = shop.post(f"/automations/{automation}/transitions", {"to": "active"})
        assert moved.status_code == 200
    made = shop.made("/events", {**GO, "create_contact_if_not_exists": True})
    assert made["triggered_automations"] == 2
    runs = shop.get(f"/runs?contact={made['contact_id']}").json["items"]
    assert {run["triggered_by"] for run in runs} == {"event_received", "contact_created"}


@pytest.mark.parametrize(
    ("occurred_at", "started"),
    [("2026-03-02T08:59:59Z", 0), ("2026-03-02T09:00:00Z", 1), ("2026-03-02T10:00:00+01:00", 1)],
)
def test_what_happened_before_the_activation_starts_nothing(
    shop: Program, occurred_at: str, started: int
) -> None:
    automation = shop.made("/automations", DOCUMENT)["id"]
    shop.post(f"/automations/{automation}/transitions", {"to": "active"})
    event = {**GO, "create_contact_if_not_exists": True, "occurred_at": occurred_at}
    assert shop.made("/events", event)["triggered_automations"] == started


def test_properties_are_kept_as_they_came(shop: Program) -> None:
    automation = shop.made("/automations", DOCUMENT)["id"]
    shop.post(f"/automations/{automation}/transitions", {"to": "active"})
    sent = {"plan": "pro", "seats": 3, "price": 9.5, "trial": True, "note": None}
    shop.made("/events", {**GO, "create_contact_if_not_exists": True, "event_properties": sent})
    (run,) = shop.get("/runs").json["items"]
    assert run["trigger_data"]["event_name"] == "trial_started"
    assert '"seats": 3' in run["trigger_data"]["event_properties"].replace('":3', '": 3')
