"""Contacts, topics and properties by API: what each call does and answers."""

import pytest

from tests.web.api.support import Program, problem

ADA = {"email": "ada@people.example", "first_name": "Ada"}


def test_a_contact_is_created_once_and_matched_afterwards(shop: Program) -> None:
    first = shop.post("/contacts", ADA)
    assert (first.status_code, first.json["action"]) == (201, "created")
    again = shop.post("/contacts", {**ADA, "email": " ADA@People.Example "})
    assert (again.status_code, again.json["action"]) == (200, "matched")
    merged = shop.post("/contacts", {"email": ADA["email"], "last_name": "Lovelace"})
    assert (merged.status_code, merged.json["action"]) == (200, "updated")
    assert merged.json["changed"] == ["last_name"]
    assert {each.json["id"] for each in (first, again, merged)} == {first.json["id"]}


@pytest.mark.parametrize(
    ("mode", "status", "first_name"), [("strict", 409, None), ("upsert", 200, "Ada")]
)
def test_a_mode_says_what_happens_to_a_known_address(
    shop: Program, mode: str, status: int, first_name: str | None
) -> None:
    shop.made("/contacts", ADA)
    answer = shop.post("/contacts", {**ADA, "first_name": "Augusta", "mode": mode})
    assert answer.status_code == status
    if first_name is None:
        assert problem(answer, 409, "already_exists")["detail"]
    else:
        assert answer.json["first_name"] == first_name


def test_a_patch_changes_what_it_names_and_null_clears(shop: Program) -> None:
    shop.made("/properties", {"key": "plan", "type": "text"})
    made = shop.made("/contacts", {**ADA, "last_name": "L", "properties": {"plan": "pro"}})
    assert made["properties"] == {"plan": "pro"}
    path = f"/contacts/{made['id']}"
    changed = shop.call("PATCH", path, {"last_name": None, "properties": {"plan": None}})
    assert changed.status_code == 200
    read = shop.get(path).json
    assert (read["first_name"], read["last_name"], read["properties"]) == ("Ada", None, {})
    assert read == changed.json


def test_a_deleted_contact_is_gone_and_its_address_free(shop: Program) -> None:
    made = shop.made("/contacts", ADA)
    gone = shop.call("DELETE", f"/contacts/{made['id']}")
    assert (gone.status_code, gone.data) == (204, b"")
    problem(shop.get(f"/contacts/{made['id']}"), 404, "contact_not_found")
    problem(shop.call("DELETE", f"/contacts/{made['id']}"), 404, "contact_not_found")
    assert shop.made("/contacts", ADA)["id"] != made["id"]


def test_a_list_goes_page_by_page_and_loses_nobody(shop: Program) -> None:
    made = [shop.made("/contacts", {"email": f"p{i}@people.example"})["id"] for i in range(7)]
    found: list[str] = []
    cursor = ""
    while cursor is not None:
        page = shop.get(f"/contacts?limit=3{cursor and '&cursor='}{cursor}").json
        assert len(page["items"]) <= 3
        found += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert found == made[::-1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("email=ADA@people.example", ["ada@people.example"]),
        ("email=nobody@people.example", []),
        ("q=ad", ["ada@people.example"]),
        ("q=grace%20hop", ["grace@people.example"]),
        ("q=zz", []),
    ],
)
def test_a_list_can_be_asked_for_somebody(shop: Program, query: str, found: list[str]) -> None:
    shop.made("/contacts", ADA)
    shop.made(
        "/contacts",
        {"email": "grace@people.example", "first_name": "Grace", "last_name": "Hopper"},
    )
    assert [each["email"] for each in shop.get(f"/contacts?{query}").json["items"]] == found


def test_a_timeline_tells_what_happened_newest_first(shop: Program) -> None:
    person = shop.made("/contacts", ADA)["id"]
    shop.made("/events", {"contact_id": person, "event_name": "trial_started"})
    page = shop.get(f"/contacts/{person}/timeline?limit=1").json
    assert [line["code"] for line in page["items"]] == ["event_received"]
    assert page["items"][0]["params"]["name"] == "trial_started"
    rest = shop.get(f"/contacts/{person}/timeline?limit=1&cursor={page['next']}").json
    assert [line["code"] for line in rest["items"]] == ["contact_created"]
    assert rest["next"] is None


def test_a_subscription_is_one_membership_however_often_it_is_put(shop: Program) -> None:
    topic = shop.made("/topics", {"name": "News", "require_double_opt_in": False})["id"]
    person = shop.made("/contacts", ADA)["id"]
    path = f"/topics/{topic}/members/{person}"
    assert [shop.call("PUT", path).json["outcome"] for _ in range(2)] == [
        "subscribed",
        "already_member",
    ]
    members = shop.get(f"/topics/{topic}/members").json["items"]
    assert [(each["contact_id"], each["pending"]) for each in members] == [(person, False)]
    assert [shop.call("DELETE", path).status_code for _ in range(2)] == [204, 204]
    assert shop.get(f"/topics/{topic}/members").json["items"] == []


def test_a_topic_asks_for_double_opt_in_unless_told_otherwise(shop: Program) -> None:
    topic = shop.made("/topics", {"name": "News"})
    assert topic["require_double_opt_in"] is True
    person = shop.made("/contacts", ADA)["id"]
    put = shop.call("PUT", f"/topics/{topic['id']}/members/{person}")
    assert put.json["outcome"] == "pending_doi"
    changed = shop.call("PATCH", f"/topics/{topic['id']}", {"name": "Letters"}).json
    assert (changed["name"], changed["require_double_opt_in"]) == ("Letters", True)
    assert shop.call("DELETE", f"/topics/{topic['id']}").status_code == 204
    problem(shop.get(f"/topics/{topic['id']}"), 404, "topic_not_found")


def test_a_property_is_defined_once_per_key(shop: Program) -> None:
    made = shop.made("/properties", {"key": "plan", "type": "text"})
    assert made["label"] == "plan"
    problem(shop.post("/properties", {"key": "plan", "type": "number"}), 409, "property_exists")
    renamed = shop.call("PATCH", f"/properties/{made['id']}", {"label": "Plan"}).json
    assert (renamed["label"], renamed["key"]) == ("Plan", "plan")
    assert shop.call("DELETE", f"/properties/{made['id']}").status_code == 204
    assert shop.get("/properties").json == {"items": [], "next": None}
