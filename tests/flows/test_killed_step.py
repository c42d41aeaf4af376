"""STK-15 with real processes: SIGKILL while a step executes; its lease ends, another goes on."""

import json
import signal
from typing import Any

from tests.factories.automations import delay, document, end
from tests.support.stack import Stack


def _run(stack: Stack) -> Any:
    (row,) = stack.api("GET", "/runs").json()["items"]
    return stack.api("GET", f"/runs/{row['id']}").json()


def test_stk_15_a_step_of_a_killed_worker_is_taken_up_after_its_lease(stack: Stack) -> None:
    stack.setup()
    stack.start("web")
    stack.wait_until_ready()
    made = stack.api("POST", "/automations", document(end("only"), delay("never"))).json()
    moved = stack.api("POST", f"/automations/{made['id']}/transitions", {"to": "active"})
    assert moved.status == 200, moved.body
    event = {
        "email": "kim@person.example",
        "event_name": "go",
        "create_contact_if_not_exists": True,
    }
    assert stack.api("POST", "/events", event).json()["triggered_automations"] == 1
    stack.env["STELLWERK_FAULTS"] = "walk.claimed:1:kill"
    assert stack.try_cli("sweep", "steps").returncode == -signal.SIGKILL
    del stack.env["STELLWERK_FAULTS"]
    assert [step["status"] for step in _run(stack)["step_runs"]] == ["executing"]
    # Its lease still holds, so nobody else touches it.
    assert json.loads(stack.cli("sweep", "steps"))["lapsed"] == 0
    stack.move_clock(121)
    assert json.loads(stack.cli("sweep", "steps"))["lapsed"] == 1
    found = _run(stack)
    assert (found["status"], [step["attempt"] for step in found["step_runs"]][:1]) == (
        "completed",
        [2],
    )
