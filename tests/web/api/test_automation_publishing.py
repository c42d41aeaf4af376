"""What a publish would do, a publish of the draft that was meant, and a revision restored."""

from typing import Any

import pytest

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.seeds import DOCUMENT, plant
from tests.web.api.support import Program, problem

WAIT: dict[str, Any] = DOCUMENT["steps"][0]


@pytest.fixture
def path(shop: Program, uow: UnitOfWork) -> str:
    """Return the address of a live automation with one person at its only step."""
    return f"/automations/{plant(shop, uow)['automations']}"


def put(shop: Program, path: str, *steps: dict[str, Any], **more: Any) -> str:
    """Save another draft; return its ETag."""
    tag = {"If-Match": shop.get(path).headers["ETag"]}
    saved = shop.call("PUT", path, {**DOCUMENT, "steps": list(steps), **more}, headers=tag)
    assert saved.status_code == 200, saved.text
    return str(saved.headers["ETag"])


def wait(days: int) -> dict[str, Any]:
    return {**WAIT, "config": {"duration": days, "unit": "days"}}


def test_what_a_publish_would_change_stands_there_with_the_people_it_meets(
    shop: Program, path: str
) -> None:
    tag = put(shop, path, {**WAIT, "key": "first"}, wait(2))
    told = shop.get(f"{path}/differences").json
    assert told.pop("differences")["steps"] == [
        {"step": "first", "what": "added", "type": "delay", "moved": False, "fields": []},
        {
            "step": "wait",
            "what": "changed",
            "type": "delay",
            "moved": False,
            "fields": [{"path": "config.duration", "before": 1, "after": 2}],
        },
    ]
    assert told == {
        "revision": 1,
        "version": tag,
        "people_inside": 1,
        "would_move": 1,
        "would_stay": 0,
        "finished": 0,
        "steps": [{"step": "wait", "people": 1, "gone": False, "due_at_once": 0}],
    }
    put(shop, path, {**WAIT, "key": "first"})
    told = shop.get(f"{path}/differences").json
    assert told["steps"] == [{"step": "wait", "people": 1, "gone": True, "due_at_once": 0}]
    assert (told["would_move"], told["would_stay"]) == (0, 1)


def test_nothing_differs_from_a_draft_that_is_not_live(shop: Program) -> None:
    made = shop.post("/automations", DOCUMENT)
    told = shop.get(f"/automations/{made.json['id']}/differences").json
    assert (told["revision"], told["version"]) == (None, made.headers["ETag"])
    assert told["differences"] == {"steps": [], "settings": [], "trigger_changed": False}
    problem(shop.get("/automations/nowhere/differences"), 404, "automation_not_found")


def test_a_publish_that_names_its_draft_publishes_no_other(shop: Program, path: str) -> None:
    seen = put(shop, path, wait(2))
    newest = put(shop, path, wait(3))
    late = problem(shop.post(f"{path}/publish", {"version": seen}), 412, "etag_mismatch", "current")
    assert (late["current"]["etag"], late["current"]["document"]["steps"][0]["config"]) == (
        newest, wait(3)["config"],
    )  # fmt: skip
    assert shop.get(path).json["revision"] == 1
    for wrong in ("x", "", "999", '"'):
        problem(shop.post(f"{path}/publish", {"version": wrong}), 412, None, "current")
    problem(shop.post(f"{path}/publish", {"version": 3}), 422)
    done = shop.post(f"{path}/publish", {"version": newest, "people_inside": "move"})
    assert (done.json["applied"], done.json["revision"], done.json["moved"]) == (
        "transitioned", 2, 1,
    )  # fmt: skip


def test_a_revision_is_made_the_draft_again_and_nothing_runs_by_it(
    shop: Program, path: str
) -> None:
    tag = put(shop, path, wait(2))
    done = shop.post(f"{path}/revisions/1/restore", headers={"If-Match": tag})
    assert (done.status_code, done.json["document"]["steps"][0]["config"]) == (
        200, wait(1)["config"],
    )  # fmt: skip
    assert done.headers["ETag"] == shop.get(path).headers["ETag"] != tag
    again = shop.post(f"{path}/revisions/1/restore", headers={"If-Match": done.headers["ETag"]})
    assert again.headers["ETag"] == done.headers["ETag"]


def test_a_restore_over_a_newer_draft_shows_it_and_what_it_would_change(
    shop: Program, path: str
) -> None:
    tag = put(shop, path, wait(2))
    put(shop, path, wait(3))
    restore = f"{path}/revisions/1/restore"
    late = problem(
        shop.post(restore, headers={"If-Match": tag}),
        412,
        "etag_mismatch",
        "current",
        "differences",
    )
    assert late["differences"]["steps"][0]["fields"] == [
        {"path": "config.duration", "before": 3, "after": 1}
    ]
    problem(shop.post(restore), 428, "if_match_required")
    assert shop.get(path).json["document"]["steps"][0]["config"]["duration"] == 3


def test_a_revision_that_there_is_not_cannot_be_restored(shop: Program, path: str) -> None:
    tag = {"If-Match": shop.get(path).headers["ETag"]}
    problem(shop.post(f"{path}/revisions/2/restore", headers=tag), 404, "revision_not_found")
    problem(shop.post(f"{path}/revisions/2/restore"), 404, "revision_not_found")
    for number in ("0", "x", "1" * 30, "-1"):
        wrong = problem(shop.post(f"{path}/revisions/{number}/restore", headers=tag), 422)
        assert [fault["pointer"] for fault in wrong["errors"]] == ["/number"]
    problem(shop.post("/automations/nowhere/revisions/1/restore"), 404, "automation_not_found")


def test_an_export_is_a_file_whose_document_makes_a_draft(shop: Program, path: str) -> None:
    put(shop, path, {"key": "mail", "type": "email", "config": {"template_id": _template(shop)}})
    file = shop.get(f"{path}/export").json
    assert (file["format"], file["format_version"]) == ("stellwerk.automation", 1)
    (named,) = file["names"]["template"].values()
    assert named == {"name": "Hello", "kind": None}
    assert shop.made("/automations", file["automation"])["document"] == file["automation"]
    problem(shop.get("/automations/nowhere/export"), 404, "automation_not_found")


def _template(shop: Program) -> str:
    return str(shop.get("/templates").json["items"][0]["id"])
