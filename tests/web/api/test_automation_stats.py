"""GET …/stats: the sums of the counters under the names that programs read (facts 1.15)."""

from engine.house import House
from tests.factories import automations as make
from tests.web.api.seeds import DOCUMENT
from tests.web.api.support import Program, problem

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
