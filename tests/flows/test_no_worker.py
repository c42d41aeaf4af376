"""Only the web is started: the console says that nothing moves, and nothing counts as sent."""

from tests.support.stack import Stack
from tests.support.visitor import Visitor
from tests.support.waiting import wait_for


def test_without_a_worker_the_console_says_so_within_a_minute(stack: Stack) -> None:
    stack.setup()
    stack.start("web")
    stack.wait_until_ready()
    _post_an_event(stack)
    visitor = Visitor(stack)
    visitor.sign_in()
    wait_for(
        lambda: "No worker is running" in visitor.get("/").text_content(), "the banner", seconds=60
    )
    sends = stack.api("GET", "/sends").json()["items"]
    assert [send for send in sends if send["status"] != "queued"] == []
    (run,) = stack.api("GET", "/runs").json()["items"]
    assert run["status"] == "running"


def test_a_worker_that_comes_back_takes_the_banner_away_and_the_run_on(stack: Stack) -> None:
    stack.setup()
    stack.start("web")
    stack.wait_until_ready()
    _post_an_event(stack)
    visitor = Visitor(stack)
    assert "No worker is running" in visitor.sign_in().text_content()
    stack.start("worker")
    wait_for(
        lambda: "No worker is running" not in visitor.get("/").text_content(), "the worker", 60
    )
    wait_for(
        lambda: (
            [run["status"] for run in stack.api("GET", "/runs").json()["items"]] == ["completed"]
        ),
        "the run's end",
        120,
    )


def _post_an_event(stack: Stack) -> None:
    template = stack.api(
        "POST",
        "/templates",
        {"name": "Hello", "subject": "Hello", "purpose": "service", "html": "<p>Hello</p>"},
    )
    automation = stack.api(
        "POST",
        "/automations",
        {
            "name": "Trial started",
            "trigger": {"type": "event_received", "config": {"event_name": "trial_started"}},
            "steps": [
                {"key": "hello", "type": "email", "config": {"template_id": template.json()["id"]}}
            ],
        },
    )
    automation_id = automation.json()["id"]
    live = stack.api("POST", f"/automations/{automation_id}/transitions", {"to": "active"})
    assert live.status == 200, live.body
    event = stack.api(
        "POST",
        "/events",
        {
            "email": "ada@person.example",
            "event_name": "trial_started",
            "create_contact_if_not_exists": True,
        },
    )
    assert event.json()["triggered_automations"] == 1
