"""Another workspace's key finds nothing: every address of the URL map that bears an id is 404."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from flask import Flask
from werkzeug.routing import Rule

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.seeds import DOCUMENT, TEMPLATE, plant
from tests.web.api.support import ROOT, Program, problem
from tests.web.support import everything, methods

# A valid body for every address that bears an id and takes one.
BODIES: Final[dict[tuple[str, str], Any]] = {
    ("PATCH", "/contacts/<id>"): {"first_name": "Mallory"},
    ("PATCH", "/properties/<id>"): {"label": "Stolen"},
    ("PATCH", "/topics/<id>"): {"name": "Stolen"},
    ("PUT", "/topics/<id>/members/<contact>"): None,
    ("PATCH", "/templates/<id>"): {"name": "Stolen"},
    ("PATCH", "/senders/<id>"): {"name": "Stolen"},
    ("PUT", "/senders/<id>"): {"email": "shop@globex.example"},
    ("PUT", "/templates/<id>"): TEMPLATE,
    ("PUT", "/topics/<id>"): {"name": "Stolen"},
    ("POST", "/templates/<id>/preview"): {},
    ("PUT", "/automations/<id>"): DOCUMENT,
    ("POST", "/automations/<id>/transitions"): {"to": "paused"},
    ("POST", "/automations/<id>/publish"): {"people_inside": "stay"},
    ("POST", "/automations/<id>/simulate"): {"person": {"external_id": "made-up"}},
    ("POST", "/runs/<id>/cancel"): {"reason": "Stolen"},
    ("POST", "/runs/<id>/move"): {"step": "wait"},
}
# What an address asks for beside its id.
QUERIES: Final = {"/automations/<id>/explain": "?contact_id={contacts}"}
# What another workspace finds empty.
LISTS: Final = (
    "/contacts", "/properties", "/topics", "/templates", "/senders", "/sending-domains",
    "/approvals", "/automations", "/runs", "/sends", "/suppressions",
    "/contacts?email=ada@people.example", "/contacts?q=ada",
)  # fmt: skip


@pytest.fixture
def ids(shop: Program, uow: UnitOfWork) -> dict[str, str]:
    """Return the id of one thing of each area of the workspace `acme`."""
    return plant(shop, uow)


def test_every_address_with_a_foreign_id_is_404_and_changes_nothing(
    app: Flask, shop: Program, foreign: Program, ids: dict[str, str], uow: UnitOfWork
) -> None:
    assert foreign.get("/contacts").json["items"] == []
    before = rows(uow)
    probed = list(probes(app))
    assert len(probed) >= 20
    for method, rule in probed:
        path = address(rule, ids)
        answer = foreign.call(method, path, BODIES.get((method, local(rule))))
        assert (method, path, problem(answer, 404)["status"]) == (method, path, 404)
        # The things of the one workspace are there; acts on many runs have ids of their own.
        there = method == "GET" and "/bulk/" not in path
        own = shop.call("GET", path) if there else None
        assert own is None or own.status_code == 200
    assert rows(uow) == before


def test_lists_of_another_workspace_are_empty(foreign: Program, ids: dict[str, str]) -> None:
    for path in LISTS:
        assert foreign.get(path).json == {"items": [], "next": None}, path
    for name, found in (("contact", "contacts"), ("automation", "automations")):
        assert foreign.get(f"/runs?{name}={ids[found]}").json["items"] == []
    assert foreign.get(f"/sends?contact={ids['contacts']}").json["items"] == []


@pytest.mark.parametrize("fault", ["unknown", "%00", "%ff", "x" * 300, "..", "1"])
def test_an_id_that_nobody_has_is_404(shop: Program, ids: dict[str, str], fault: str) -> None:
    for area in ids:
        assert problem(shop.get(f"/{area}/{fault}"), 404)["status"] == 404


def test_a_foreign_contact_is_refused_inside_a_body_too(
    foreign: Program, ids: dict[str, str]
) -> None:
    event = {"contact_id": ids["contacts"], "event_name": "go"}
    problem(foreign.post("/events", event), 404, "contact_not_found")
    template = foreign.made("/templates", TEMPLATE)["id"]
    ask = {"contact_id": ids["contacts"]}
    problem(foreign.post(f"/templates/{template}/preview", ask), 404, "contact_not_found")
    topic = foreign.made("/topics", {"name": "News"})["id"]
    answer = foreign.call("PUT", f"/topics/{topic}/members/{ids['contacts']}")
    assert problem(answer, 404)["reason"] == "contact_not_found"


def probes(app: Flask) -> Iterator[tuple[str, Rule]]:
    """Yield every method of every route of the API that bears an id."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(ROOT) and rule.arguments:
            for method in methods(rule):
                yield method, rule


def local(rule: Rule) -> str:
    """Return the address of a route without the API's root."""
    return rule.rule.removeprefix(ROOT)


def address(rule: Rule, ids: dict[str, str]) -> str:
    """Return the address of a route with the ids of the seeded things."""
    area = local(rule).split("/")[1]
    path = local(rule).replace("<id>", ids[area]).replace("<contact>", ids["contacts"])
    path = path.replace("<number>", "1")
    return path + QUERIES.get(local(rule), "").format(**ids)


def rows(uow: UnitOfWork) -> object:
    """Return all rows but the counters of rates and the keys' last use."""
    with uow.read() as session:
        found = everything(session)
    return {name: each for name, each in found.items() if name not in {"rate_windows", "api_keys"}}
