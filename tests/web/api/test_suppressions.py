"""The suppression list by API: block, list, find, let go; every change with its actor."""

from sqlalchemy import select

from engine.core.audit import AuditEntry
from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import Program, pointers, problem


def test_a_program_blocks_and_releases_an_address(shop: Program, uow: UnitOfWork) -> None:
    made = shop.made("/suppressions", {"email": "Gone@People.example"})
    assert made.keys() == {"id", "email", "reason", "source", "created_at"}
    assert (made["email"], made["reason"], made["source"]) == (
        "gone@people.example",
        "manual",
        "api",
    )
    path = f"/suppressions/{made['id']}"
    assert shop.get(path).json == made
    assert shop.get("/suppressions?q=gone").json == {"items": [made], "next": None}
    assert shop.get("/suppressions?q=other").json["items"] == []
    assert shop.call("DELETE", path).status_code == 204
    problem(shop.call("DELETE", path), 404, "suppression_not_found")
    problem(shop.get(path), 404, "suppression_not_found")
    with uow.read() as session:
        entries = session.execute(
            select(AuditEntry.action, AuditEntry.actor).order_by(AuditEntry.id)
        ).all()
    assert [entry.action for entry in entries] == ["blocklist.added", "blocklist.removed"]
    assert all(entry.actor.startswith("key:") for entry in entries)


def test_blocking_twice_says_so_in_the_seeds_words(shop: Program) -> None:
    shop.made("/suppressions", {"email": "gone@people.example", "reason": "bounced"})
    again = shop.post("/suppressions", {"email": " GONE@people.example "})
    told = problem(again, 409, "already_suppressed")
    assert told["detail"] == "This email address is already blocked"


def test_what_is_wrong_is_told_by_its_place(shop: Program) -> None:
    wrong = shop.post("/suppressions", {"email": "nobody"})
    assert pointers(problem(wrong, 422)) == ["/email"]
    unknown = {"email": "gone@people.example", "reason": "because"}
    assert pointers(problem(shop.post("/suppressions", unknown), 422)) == ["/reason"]


def test_pages_follow_one_another(shop: Program) -> None:
    for number in range(3):
        shop.made("/suppressions", {"email": f"gone{number}@people.example"})
    first = shop.get("/suppressions?limit=2").json
    rest = shop.get(f"/suppressions?limit=2&cursor={first['next']}").json
    found = [each["email"] for each in first["items"] + rest["items"]]
    assert found == [f"gone{number}@people.example" for number in (2, 1, 0)]
    assert rest["next"] is None
