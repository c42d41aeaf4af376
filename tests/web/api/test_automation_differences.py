"""A PUT that comes too late is shown the newer draft and what it would change in that."""

from typing import Any

from tests.web.api.seeds import DOCUMENT
from tests.web.api.support import Program, problem

WAIT: dict[str, Any] = DOCUMENT["steps"][0]


def test_edt_13_a_late_put_is_told_both_drafts_and_the_difference(shop: Program) -> None:
    made = shop.post("/automations", DOCUMENT)
    path, tag = f"/automations/{made.json['id']}", {"If-Match": made.headers["ETag"]}
    theirs = {**DOCUMENT, "name": "Theirs", "steps": [WAIT, {**WAIT, "key": "more"}]}
    newest = shop.call("PUT", path, theirs, headers=tag)
    assert newest.status_code == 200
    mine = {**DOCUMENT, "steps": [{**WAIT, "config": {"duration": 3, "unit": "days"}}]}
    late = shop.call("PUT", path, mine, headers=tag)
    told = problem(late, 412, "etag_mismatch", "current", "differences")
    assert shop.get(path).json["document"] == newest.json["document"]
    current = told["current"]
    assert current.pop("edited_by").startswith("key:")
    assert current == {
        "etag": newest.headers["ETag"],
        "edited_at": newest.json["edited_at"],
        "document": newest.json["document"],
    }
    assert told["differences"] == {
        "settings": [{"path": "name", "before": "Theirs", "after": "Trial"}],
        "trigger_changed": False,
        "steps": [
            {
                "step": "wait",
                "what": "changed",
                "type": "delay",
                "moved": False,
                "fields": [{"path": "config.duration", "before": 1, "after": 3}],
            },
            {"step": "more", "what": "removed", "type": "delay", "moved": False, "fields": []},
        ],
    }
    again = shop.call("PUT", path, mine, headers={"If-Match": current["etag"]})
    assert again.status_code == 200
    assert again.json["steps"] == [{**mine["steps"][0], "next": None}]


def test_tim_05_the_same_document_put_five_times_keeps_its_etag(shop: Program) -> None:
    made = shop.post("/automations", DOCUMENT)
    path, tag = f"/automations/{made.json['id']}", made.headers["ETag"]
    for _ in range(5):
        put = shop.call("PUT", path, made.json["document"], headers={"If-Match": tag})
        assert (put.status_code, put.headers["ETag"]) == (200, tag)
    assert put.json["edited_at"] == made.json["edited_at"]


def test_a_late_put_of_an_unsound_document_hears_of_its_faults_first(shop: Program) -> None:
    made = shop.post("/automations", DOCUMENT)
    path, odd = f"/automations/{made.json['id']}", {"If-Match": "odd"}
    told = problem(shop.call("PUT", path, {**DOCUMENT, "name": ""}, headers=odd), 422)
    assert told["reason"] != "stale"


def test_who_names_no_etag_is_shown_nothing(shop: Program) -> None:
    made = shop.post("/automations", DOCUMENT)
    path = f"/automations/{made.json['id']}"
    told = problem(shop.call("PUT", path, DOCUMENT), 428, "if_match_required")
    assert "current" not in told
