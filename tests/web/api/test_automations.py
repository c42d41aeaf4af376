"""Automations and their runs by API: drafts with ETags, transitions, revisions, the run's log."""

from typing import Any

import pytest
from sqlalchemy import event

from engine.house import House
from tests.web.api.seeds import DOCUMENT, EVENT, TEMPLATE, plant
from tests.web.api.support import Program, pointers, problem

MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"to": "active", "resume": "shift"}, "/resume"),
    ({"to": "paused", "start_afresh": True}, "/start_afresh"),
    ({"to": "active", "cancel_inside": True}, "/cancel_inside"),
]


def test_a_put_needs_the_etag_that_get_answered(shop: Program) -> None:
    made = shop.post("/automations", DOCUMENT)
    path = f"/automations/{made.json['id']}"
    tag = shop.get(path).headers["ETag"]
    assert tag == made.headers["ETag"]
    renamed = {**DOCUMENT, "name": "Renamed"}
    problem(shop.call("PUT", path, renamed), 428, "if_match_required")
    for odd in ('"99"', "odd"):
        answer = shop.call("PUT", path, renamed, headers={"If-Match": odd})
        problem(answer, 412, "etag_mismatch", "current", "differences")
    wrong = shop.call("PUT", path, {**renamed, "x": 1}, headers={"If-Match": tag})
    assert pointers(problem(wrong, 422)) == ["/x"]
    assert shop.get(path).json["name"] == "Trial"
    kept = shop.call("PUT", path, renamed, headers={"If-Match": tag})
    assert (kept.status_code, kept.json["name"]) == (200, "Renamed")
    assert kept.headers["ETag"] == shop.get(path).headers["ETag"] != tag
    late = shop.call("PUT", path, DOCUMENT, headers={"If-Match": tag})
    problem(late, 412, "etag_mismatch", "current", "differences")


def test_the_document_that_get_answers_can_be_put_back(shop: Program) -> None:
    made = shop.post("/automations", DOCUMENT)
    read = shop.get(f"/automations/{made.json['id']}")
    put = shop.call(
        "PUT",
        f"/automations/{made.json['id']}",
        read.json["document"],
        headers={"If-Match": read.headers["ETag"]},
    )
    assert (put.status_code, put.json["document"]) == (200, read.json["document"])


def test_steps_that_change_people_come_back_as_they_were_sent(shop: Program) -> None:
    topic = shop.made("/topics", {"name": "News"})
    shop.made("/properties", {"key": "seats", "type": "number"})
    changes: dict[str, Any] = {"seats": 5, "language": None, "first_name": "Ada"}
    steps = [
        {"key": "set", "type": "update_contact", "config": {"changes": changes}},
        {
            "key": "join",
            "type": "topic",
            "config": {"topic_id": topic["id"], "action": "unsubscribe"},
        },
    ]
    made = shop.made("/automations", {**DOCUMENT, "steps": steps})
    read = shop.get(f"/automations/{made['id']}").json
    stored = [{key: step[key] for key in ("key", "type", "config")} for step in read["steps"]]
    assert (stored, read["problems"]) == (steps, [])
    assert read["steps"][1]["topic_name"] == "News"
    changes["seats"] = [5]
    refused = shop.post("/automations", {**DOCUMENT, "steps": steps})
    assert pointers(problem(refused, 422)) == ["/steps/0/config/changes/seats"]


def test_a_transition_says_whether_anything_changed(shop: Program) -> None:
    path = f"/automations/{shop.made('/automations', DOCUMENT)['id']}"
    steps = [("active", "transitioned"), ("active", "recorded"), ("paused", "transitioned"),
             ("paused", "recorded"), ("active", "transitioned")]  # fmt: skip
    for status, applied in steps:
        answer = shop.post(f"{path}/transitions", {"to": status})
        assert (answer.status_code, answer.json["applied"]) == (200, applied)
        assert shop.get(path).json["status"] == status
    refused = problem(shop.post(f"{path}/transitions", {"to": "draft"}), 409, "illegal_edge")
    assert refused["detail"] == "Automation is not in a state that allows this transition"
    problem(shop.call("DELETE", path), 409, "active_cannot_be_deleted")


@pytest.mark.parametrize(
    ("change", "reason", "detail"),
    [
        ({"steps": []}, "no_steps", "Automation must have at least one step to be activated"),
        (
            {"trigger": {"type": "event_received"}},
            "invalid_trigger_config",
            "Automation trigger is missing required configuration",
        ),
    ],
)
def test_an_incomplete_draft_is_kept_and_refused_at_activation(
    shop: Program, change: dict[str, Any], reason: str, detail: str
) -> None:
    path = f"/automations/{shop.made('/automations', {**DOCUMENT, **change})['id']}"
    assert (
        problem(shop.post(f"{path}/transitions", {"to": "active"}), 409, reason)["detail"] == detail
    )
    assert shop.get(path).json["status"] == "draft"


def test_a_check_lists_every_error_with_its_pointer(shop: Program) -> None:
    mail = {"key": "mail", "type": "email", "config": {"template_id": None}}
    made = shop.made("/automations", {**DOCUMENT, "steps": [mail]})
    assert made["problems"][0]["pointer"] == "/steps/0/config/template_id"
    answer = shop.post(f"/automations/{made['id']}/transitions", {"to": "active"})
    assert "/steps/0/config/template_id" in pointers(problem(answer, 409, "check_failed"))


@pytest.mark.parametrize(("body", "pointer"), MISFITS)
def test_a_choice_that_does_not_fit_is_refused_in_words(
    shop: Program, body: dict[str, Any], pointer: str
) -> None:
    path = f"/automations/{shop.made('/automations', DOCUMENT)['id']}"
    assert pointers(problem(shop.post(f"{path}/transitions", body), 422)) == [pointer]
    assert shop.get(path).json["status"] == "draft"


def test_on_hold_a_resume_asks_how_people_go_on(shop: Program) -> None:
    made = shop.made("/automations", {**DOCUMENT, "on_pause": "hold"})
    path = f"/automations/{made['id']}/transitions"
    shop.made("/contacts", {"email": "ada@people.example"})
    assert shop.post(path, {"to": "active"}).json["people_inside"] == 0
    assert shop.made("/events", EVENT)["triggered_automations"] == 1
    paused = shop.post(path, {"to": "paused"}).json
    assert (paused["people_inside"], paused["cancelled"]) == (1, 0)
    for choice in ("shift", "overdue", "skip"):
        resumed = shop.post(path, {"to": "active", "resume": choice}).json
        assert (resumed["status"], resumed["people_inside"], resumed["due_now"]) == ("active", 1, 0)
        shop.post(path, {"to": "paused"})
    stopped = shop.post(path, {"to": "paused", "cancel_inside": True}).json
    assert (stopped["applied"], stopped["cancelled"]) == ("recorded", 1)
    assert stopped["people_inside"] == 0
    assert shop.get("/runs").json["items"][0]["ended_reason"] == "stopped"
    afresh = shop.post(path, {"to": "active", "start_afresh": True}).json
    assert (afresh["applied"], afresh["version"]) == ("transitioned", 2)


def test_a_publish_says_who_moved(shop: Program) -> None:
    made = shop.made("/automations", DOCUMENT)
    path = f"/automations/{made['id']}"
    refused = problem(shop.post(f"{path}/publish", {}), 409, "illegal_edge")
    assert refused["detail"] == "It is a draft; activate it with transitions."
    shop.post(f"{path}/transitions", {"to": "active"})
    shop.made("/contacts", {"email": "ada@people.example"})
    shop.made("/events", EVENT)
    unchanged = shop.post(f"{path}/publish", {"people_inside": "move"}).json
    assert (unchanged["applied"], unchanged["revision"], unchanged["stayed"]) == ("recorded", 1, 1)
    wait = {"key": "wait", "type": "delay", "config": {"duration": 2, "unit": "days"}}
    tag = shop.get(path).headers["ETag"]
    shop.call("PUT", path, {**DOCUMENT, "steps": [wait]}, headers={"If-Match": tag})
    done = shop.post(f"{path}/publish", {"people_inside": "move"}).json
    assert (done["applied"], done["revision"], done["draft_differs"]) == ("transitioned", 2, False)
    assert (done["moved"], done["stayed"], done["reactivated"]) == (1, 0, False)
    problem(shop.post(f"{path}/publish", {"people_inside": "leave"}), 422)


def test_a_duplicate_is_a_new_draft(shop: Program) -> None:
    made = shop.made("/automations", DOCUMENT)
    copy = shop.post(f"/automations/{made['id']}/duplicate", {})
    assert copy.status_code == 201
    assert (copy.json["name"], copy.json["status"]) == ("Trial (Copy)", "draft")
    assert copy.json["document"]["steps"] == made["document"]["steps"]
    problem(shop.post("/automations/nobodyknowsthisone1234/duplicate", {}), 404)


def test_warnings_stand_beside_the_problems(shop: Program) -> None:
    template = shop.made("/templates", TEMPLATE)["id"]
    mail = {"key": "mail", "type": "email", "config": {"template_id": template}}
    made = shop.made("/automations", {**DOCUMENT, "steps": [mail]})
    assert pointers({"errors": made["warnings"]}) == ["/steps/0/config/template_id"]
    assert "/steps/0/config/template_id" not in pointers({"errors": made["problems"]})


def test_a_revision_is_what_was_activated(shop: Program) -> None:
    made = shop.made("/automations", DOCUMENT)
    path = f"/automations/{made['id']}"
    assert shop.get(f"{path}/revisions").json["items"] == []
    shop.post(f"{path}/transitions", {"to": "active"})
    (revision,) = shop.get(f"{path}/revisions").json["items"]
    assert (revision["number"], revision["in_force"]) == (1, True)
    assert revision["document"] == made["document"]
    again = shop.post("/automations", revision["document"])
    assert again.status_code == 201


def test_an_automation_shows_its_templates_by_name_in_a_bounded_number_of_queries(
    shop: Program, house: House
) -> None:
    template = shop.made("/templates", TEMPLATE)["id"]
    counts = []
    for size in (1, 30):
        steps = [
            {"key": f"mail{i}", "type": "email", "config": {"template_id": template}}
            for i in range(size)
        ]
        made = shop.made("/automations", {**DOCUMENT, "steps": steps})
        statements: list[str] = []

        def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            statements.append(statement)  # noqa: B023 - called before the loop goes on

        event.listen(house.runtime.database.engine, "before_cursor_execute", note)
        read = shop.get(f"/automations/{made['id']}").json
        event.remove(house.runtime.database.engine, "before_cursor_execute", note)
        assert {step["template_name"] for step in read["steps"]} == {"Hello"}
        counts.append(len(statements))
    assert counts[0] == counts[1] <= 15


def test_runs_are_found_by_their_filters(shop: Program, uow: Any) -> None:
    ids = plant(shop, uow)
    known = {
        "automation": ids["automations"],
        "contact": ids["contacts"],
        "status": "running",
        "step": "wait",
        "since": "2026-03-02T09:00:00Z",
        "q": "ada",
    }
    other = {
        "automation": "nobody",
        "contact": "nobody",
        "status": "cancelled",
        "step": "else",
        "since": "2026-03-02T09:00:01Z",
        "q": "grace",
    }
    for name, value in known.items():
        assert [run["id"] for run in shop.get(f"/runs?{name}={value}").json["items"]] == [
            ids["runs"]
        ]
        assert shop.get(f"/runs?{name}={other[name]}").json["items"] == []
    run = shop.get(f"/runs/{ids['runs']}").json
    assert (run["status"], run["step_key"], run["due_at"]) == (
        "running",
        "wait",
        "2026-03-03T09:00:00Z",
    )
    assert [(each["step_key"], each["status"]) for each in run["step_runs"]] == [
        ("wait", "pending")
    ]


def test_a_deleted_automation_is_gone_and_its_runs_stay_readable(shop: Program, uow: Any) -> None:
    ids = plant(shop, uow)
    path = f"/automations/{ids['automations']}"
    shop.post(f"{path}/transitions", {"to": "paused"})
    assert shop.call("DELETE", path).status_code == 204
    problem(shop.get(path), 404, "automation_not_found")
    run = shop.get(f"/runs/{ids['runs']}").json
    assert (run["status"], run["ended_reason"]) == ("cancelled", "automation_deleted")
