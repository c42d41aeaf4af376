"""GET …/stats: the sums of the counters under the names that programs read (facts 1.15)."""

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as make
from tests.factories.breaking import broken
from tests.web.api.seeds import DOCUMENT
from tests.web.api.support import Program, problem
from tests.web.support import Town

ZERO = {"pending": 0, "executing": 0, "completed": 0, "failed": 0, "skipped": 0, "total": 0}


def test_an_automation_nobody_entered_answers_zeros(shop: Program) -> None:
    path = f"/automations/{shop.made('/automations', DOCUMENT)['id']}"
    assert shop.get(f"{path}/stats").json == {
        "total_entered": 0,
        "running": 0,
        "completed": 0,
        "cancelled": 0,
        "total_step_runs": 0,
        "completed_step_runs": 0,
        "failed_step_runs": 0,
        "emails_sent": 0,
        "completion_rate": 0.0,
        "steps": [{"key": "wait", "type": "delay", **ZERO}],
    }


def test_what_happened_is_told_in_numbers_and_by_step(shop: Program, house: House) -> None:
    steps = [make.branch("ask", yes="bye"), make.delay("wait"), make.end("bye")]
    automation = shop.made("/automations", make.document(*steps))["id"]
    shop.post(f"/automations/{automation}/transitions", {"to": "active"})
    for number, name in enumerate(("Ada", "Bob", "Bob")):
        person = shop.made("/contacts", {"email": f"p{number}@people.example", "first_name": name})[
            "id"
        ]
        shop.made("/events", {"contact_id": person, "event_name": "go"})
    house.steps.sweep()
    told = shop.get(f"/automations/{automation}/stats").json
    assert told["steps"] == [
        {**ZERO, "key": "ask", "type": "condition", "completed": 3, "total": 3},
        {**ZERO, "key": "wait", "type": "delay", "pending": 2, "skipped": 1, "total": 3},
        {**ZERO, "key": "bye", "type": "end", "completed": 1, "total": 1},
    ]
    del told["steps"]
    assert told == {
        "total_entered": 3,
        "running": 2,
        "completed": 1,
        "cancelled": 0,
        "total_step_runs": 7,
        "completed_step_runs": 4,
        "failed_step_runs": 0,
        "emails_sent": 0,
        "completion_rate": 33.3,
    }


def test_figures_of_a_foreign_or_deleted_automation_are_404(
    shop: Program, foreign: Program
) -> None:
    path = f"/automations/{shop.made('/automations', DOCUMENT)['id']}"
    problem(foreign.get(f"{path}/stats"), 404, "automation_not_found")
    assert shop.call("DELETE", path).status_code == 204
    problem(shop.get(f"{path}/stats"), 404, "automation_not_found")


def test_a_pause_by_the_breaker_tells_who_and_the_last_errors(
    shop: Program, uow: UnitOfWork, clock: FixedClock, acme: Town
) -> None:
    automation, people = broken(uow, clock, acme.workspace_id)
    told = shop.get(f"/automations/{automation.public_id}").json
    assert (told["status"], told["paused_by"]) == ("paused", "system:automation-breaker")
    assert [error["contact"] for error in told["last_errors"]] == [
        person.public_id for person in reversed(people)
    ]
    last = told["last_errors"][0]
    assert (last["step"], last["code"], last["message"]) == (
        "mail",
        "NO_ADDRESS",
        "Contact has no email address",
    )
    assert shop.get(f"/runs/{last['run']}").json["ended_reason"] == "step_failed"
    resumed = shop.post(f"/automations/{automation.public_id}/transitions", {"to": "active"})
    assert (resumed.json["paused_by"], resumed.json["last_errors"]) == (None, [])


def test_a_pause_by_a_program_bears_its_key_and_no_errors(shop: Program) -> None:
    path = f"/automations/{shop.made('/automations', DOCUMENT)['id']}"
    for status in ("active", "paused"):
        told = shop.post(f"{path}/transitions", {"to": status}).json
    assert told["paused_by"].startswith("key:")
    assert told["last_errors"] == []
