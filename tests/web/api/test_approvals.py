"""Requests by API: asked with one key, granted or denied with another."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.seeds import DOCUMENT
from tests.web.api.support import Program, Reply, pointers, problem, program
from tests.web.support import Town

EDITOR = ("approvals:manage", "approvals:read", "automations:manage", "automations:read")
TIMES = 4


@pytest.fixture
def editor(app: Flask, uow: UnitOfWork, acme: Town) -> Program:
    """Return a program that may ask and not publish."""
    return program(app, uow, acme.workspace_id, *EDITOR)


def draft(editor: Program) -> str:
    return str(editor.made("/automations", DOCUMENT)["id"])


def ask(editor: Program, automation: str, kind: str = "automation.activate", **more: Any) -> str:
    body = {"kind": kind, "resource_id": automation, **more}
    return str(editor.made("/approvals", body)["id"])


def test_sec_05_an_editor_that_activates_is_403_and_asks_instead(
    shop: Program, editor: Program
) -> None:
    automation = draft(editor)
    address = f"/automations/{automation}"
    problem(editor.post(f"{address}/transitions", {"to": "active"}), 403, "wrong_scope")
    problem(editor.post(f"{address}/publish", {}), 403, "wrong_scope")
    asked = editor.made(
        "/approvals",
        {"kind": "automation.activate", "resource_id": automation, "note": "For Monday"},
    )
    assert (asked["status"], asked["note"], asked["wanted"]) == ("pending", "For Monday", {})
    assert asked["draft_changed"] is False
    problem(editor.post(f"/approvals/{asked['id']}/grant"), 403, "wrong_scope")
    assert editor.get(address).json["status"] == "draft"
    granted = shop.post(f"/approvals/{asked['id']}/grant", {"answer": "Go"})
    assert granted.status_code == 200, granted.text
    told = granted.json
    assert (told["applied"], told["status"], told["answer"]) == ("transitioned", "granted", "Go")
    assert told["decided_by"] != asked["asked_by"]
    assert editor.get(address).json["status"] == "active"
    again = shop.post(f"/approvals/{asked['id']}/grant")
    assert (again.status_code, again.json["applied"]) == (200, "recorded")
    assert editor.get(f"/approvals/{asked['id']}").json["status"] == "granted"


def test_a_key_that_decides_but_may_not_publish_grants_nothing(
    app: Flask, uow: UnitOfWork, acme: Town, editor: Program
) -> None:
    request = ask(editor, draft(editor))
    key = program(app, uow, acme.workspace_id, "approvals:manage", "approvals:act")
    refused = problem(key.post(f"/approvals/{request}/grant"), 403, "wrong_scope")
    assert "automations:publish" in refused["detail"]
    assert key.post(f"/approvals/{request}/deny").status_code == 200


def test_a_publish_is_granted_with_the_choice_that_was_asked_for(
    shop: Program, editor: Program
) -> None:
    automation = draft(editor)
    shop.post(f"/automations/{automation}/transitions", {"to": "active"})
    problem(
        editor.post("/approvals", {"kind": "automation.publish", "resource_id": automation}),
        409,
        "nothing_to_publish",
    )
    etag = editor.get(f"/automations/{automation}").headers["ETag"]
    changed = {**DOCUMENT, "name": "Trial, shorter"}
    saved = editor.call("PUT", f"/automations/{automation}", changed, headers={"If-Match": etag})
    assert saved.status_code == 200
    choice = {"people_inside": "move"}
    request = ask(editor, automation, "automation.publish", wanted=choice)
    assert editor.get(f"/approvals/{request}").json["wanted"] == choice
    assert shop.post(f"/approvals/{request}/grant").status_code == 200
    found = editor.get(f"/automations/{automation}").json
    assert (found["revision"], found["draft_differs"]) == (2, False)


def test_a_changed_draft_is_409_and_the_request_waits(shop: Program, editor: Program) -> None:
    automation = draft(editor)
    request = ask(editor, automation)
    etag = editor.get(f"/automations/{automation}").headers["ETag"]
    changed = {**DOCUMENT, "name": "Other"}
    editor.call("PUT", f"/automations/{automation}", changed, headers={"If-Match": etag})
    problem(shop.post(f"/approvals/{request}/grant"), 409, "draft_changed")
    found = shop.get(f"/approvals/{request}").json
    assert (found["status"], found["draft_changed"]) == ("pending", True)


def test_who_is_too_late_learns_who_was_first(shop: Program, editor: Program) -> None:
    automation = draft(editor)
    request = ask(editor, automation)
    denied = shop.post(f"/approvals/{request}/deny", {"answer": "Not yet"}).json
    refused = problem(shop.post(f"/approvals/{request}/grant"), 409, "decided_already")
    assert denied["decided_by"] in refused["detail"]
    problem(editor.post(f"/approvals/{request}/withdraw"), 409, "decided_already")
    other = ask(editor, automation)
    refused = problem(
        editor.post("/approvals", {"kind": "automation.activate", "resource_id": automation}),
        409,
        "already_asked",
    )
    problem(shop.post(f"/approvals/{other}/withdraw"), 403, "not_your_request")
    assert editor.post(f"/approvals/{other}/withdraw").json["status"] == "withdrawn"


def test_lists_are_filtered_by_status_and_thing(shop: Program, editor: Program) -> None:
    first, second = draft(editor), draft(editor)
    denied, waits = ask(editor, first), ask(editor, second)
    shop.post(f"/approvals/{denied}/deny")

    def ids(query: str) -> list[str]:
        return [item["id"] for item in editor.get(f"/approvals{query}").json["items"]]

    assert ids("") == [waits, denied]
    assert ids("?status=pending") == [waits]
    assert ids(f"?resource_id={first}") == [denied]
    page = editor.get("/approvals?limit=1").json
    assert page["next"]
    assert ids(f"?limit=1&cursor={page['next']}") == [denied]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"kind": "automation.delete"}, "/kind"),
        ({"wanted": {"people_inside": "vanish"}}, "/wanted/people_inside"),
        ({"wanted": {"people_inside": "move"}}, "/wanted/people_inside"),
        ({"note": "x" * 1001}, "/note"),
        ({"more": 1}, "/more"),
    ],
)
def test_what_cannot_be_asked_is_422(editor: Program, body: dict[str, Any], pointer: str) -> None:
    asked = {"kind": "automation.activate", "resource_id": draft(editor), **body}
    assert pointers(problem(editor.post("/approvals", asked), 422)) == [pointer]


def test_what_would_fail_is_told_with_its_place(editor: Program) -> None:
    broken = {**DOCUMENT, "steps": [{"key": "m", "type": "email", "config": {"template_id": None}}]}
    automation = editor.made("/automations", broken)["id"]
    body = {"kind": "automation.activate", "resource_id": automation}
    found = problem(editor.post("/approvals", body), 409, "check_failed")
    assert found["errors"][0]["pointer"].startswith("/steps/0")
    unknown = {"kind": "automation.activate", "resource_id": "nowhere"}
    problem(editor.post("/approvals", unknown), 404, "automation_not_found")


def test_the_same_key_asks_and_grants_once(shop: Program, editor: Program) -> None:
    body = {"kind": "automation.activate", "resource_id": draft(editor)}
    once = {"Idempotency-Key": "once"}
    first = editor.post("/approvals", body, headers=once)
    assert editor.post("/approvals", body, headers=once).json == first.json
    address = f"/approvals/{first.json['id']}/grant"
    granted = shop.post(address, headers={"Idempotency-Key": "grant"})
    assert granted.json["applied"] == "transitioned"
    assert shop.post(address, headers={"Idempotency-Key": "grant"}).json == granted.json


def test_of_many_grants_at_once_one_does_it(shop: Program, editor: Program) -> None:
    automation = draft(editor)
    address = f"/approvals/{ask(editor, automation)}/grant"

    def grant(_: int) -> Reply:
        return shop.post(address)

    with ThreadPoolExecutor(TIMES) as pool:
        answers = list(pool.map(grant, range(TIMES)))
    assert [answer.status_code for answer in answers] == [200] * TIMES
    applied = sorted(answer.json["applied"] for answer in answers)
    assert applied == ["recorded"] * (TIMES - 1) + ["transitioned"]
    assert shop.get(f"/automations/{automation}").json["version"] == 1


def test_of_many_who_ask_at_once_one_is_taken(editor: Program) -> None:
    body = {"kind": "automation.activate", "resource_id": draft(editor)}

    def send(_: int) -> int:
        return editor.post("/approvals", body).status_code

    with ThreadPoolExecutor(TIMES) as pool:
        assert sorted(pool.map(send, range(TIMES))) == [201, 409, 409, 409]
