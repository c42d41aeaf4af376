"""What each page costs: statements, however many rows there are, and bytes on the wire."""

from collections.abc import Iterator, Mapping
from typing import Final

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from engine.core.clock import FixedClock
from engine.house import House
from tests.factories import accounts, audience, delivery, scenes, secrets
from tests.factories import automations as making
from tests.web.counting import counting
from tests.web.samples import Ids, furnish
from tests.web.support import Reader, Town, fill, methods, page_rules, tree
from web.health import views as health

# Statements of a page, among them who asks, what the navigation counts and the banners: five.
MOST: Final[Mapping[str, int]] = {
    "api_docs.index": 6,
    "api_keys.index": 7,
    "approvals.detail": 13,
    "approvals.index": 10,
    "attention.index": 11,
    "audit.index": 9,
    "automations.ask_delete": 23,
    "automations.ask_publish": 26,
    "automations.check": 16,
    "automations.compare_revisions": 13,
    "automations.detail": 20,
    "automations.export": 9,
    "automations.import_file": 6,
    "automations.index": 10,
    "automations.live": 6,
    "automations.matches": 11,
    "automations.new": 6,
    "automations.revision": 17,
    "automations.revisions": 11,
    "automations.sentence": 6,
    "automations.simulate": 9,
    "automations.simulated_mail": 7,
    "automations.why": 7,
    "help.index": 6,
    "help.page": 6,
    "home.index": 16,
    "links.unsubscribe": 8,
    "people.ask_event": 10,
    "people.choose": 6,
    "people.detail": 19,
    "people.find": 9,
    "people.index": 9,
    "people.why": 9,
    "runs.detail": 21,
    "runs.index": 13,
    "runs.job": 9,
    "runs.live": 4,
    "runs.many": 8,
    "runs.views_of_runs": 5,
    "secrets.index": 8,
    "sends.body": 5,
    "sends.detail": 11,
    "sends.index": 9,
    "suppressions.index": 7,
    "templates.body": 5,
    "templates.browse": 8,
    "templates.detail": 10,
    "templates.gallery_body": 5,
    "templates.index": 7,
    "templates.new": 6,
    "workspace.index": 7,
}
# What only programs open.
APART: Final = (f"{health.pages.name}.",)
FIRST_LOAD: Final = 250_000
BROWSER: Final = {"Accept-Encoding": "gzip, br"}


def _pages(app: Flask) -> list[Rule]:
    return [
        rule
        for rule in page_rules(app)
        if "GET" in methods(rule) and not rule.endpoint.startswith(APART)
    ]


def _counted(app: Flask, house: House, reader: Reader, ids: Mapping[str, Ids]) -> dict[str, int]:
    found = {}
    for rule in _pages(app):
        address = fill(app, rule, ids.get(rule.endpoint.split(".")[0], {}))
        reader.get(address)
        with counting(house.runtime.database.engine) as asked:
            assert reader.get(address).status_code < 500, address
        found[rule.endpoint] = asked.count
    return found


def _more(house: House, clock: FixedClock, workspace_id: int) -> None:
    """Add several of everything that pages list."""
    at = clock.now()
    with house.runtime.uow.begin() as session:
        people = []
        for number in range(12):
            name = f"another{number}"
            person = audience.contact(session, workspace_id, f"{name}@partner.example")
            people.append(person)
            audience.suppression(session, workspace_id, f"{name}@blocked.example")
            audience.topic(session, workspace_id, name)
            audience.custom_property(session, workspace_id, name)
            secrets.secret(session, workspace_id, name)
            delivery.template(session, workspace_id, name=name)
            accounts.api_key(session, workspace_id)
            plan = making.document(making.delay("wait"), making.email("mail", None), name=name)
            making.live(session, workspace_id, {**plan, "steps": plan["steps"][:1]}, at)
        making.fire(session, workspace_id, people, at, scenes.EVENT)
        making.fire(session, workspace_id, people, at, "go")
    scenes.walk(house)


def test_no_page_asks_more_than_it_may_however_much_there_is_to_show(
    app: Flask, house: House, clock: FixedClock, acme: Town
) -> None:
    ids = furnish(house, clock, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    few = _counted(app, house, reader, ids)
    _more(house, clock, acme.workspace_id)
    many = _counted(app, house, reader, ids)
    assert many.keys() == MOST.keys()
    assert {page: count for page, count in many.items() if count > few[page]} == {}
    assert {page: count for page, count in few.items() if count > MOST[page]} == {}


@pytest.fixture
def owner_of_all(
    app: Flask, house: House, clock: FixedClock, acme: Town
) -> tuple[Reader, dict[str, Ids]]:
    """Return somebody who may open everything of a full workspace, and the ids of its things."""
    ids = dict(furnish(house, clock, acme.workspace_id))
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    return reader, ids


def _files(page: TestResponse) -> Iterator[str]:
    """Yield what a page has a browser fetch at once."""
    found = tree(page)
    yield from found.xpath("//link[@rel='stylesheet']/@href")
    yield from found.xpath("//script/@src")
    yield from found.xpath("//link[@rel='icon']/@href")
    # The sprite of icons is one file, whatever parts of it a page uses.
    yield from {each.partition("#")[0] for each in found.xpath("//*[local-name()='use']/@href")}


def test_no_page_is_heavier_on_its_first_load_than_it_may_be(
    app: Flask, owner_of_all: tuple[Reader, dict[str, Ids]]
) -> None:
    reader, ids = owner_of_all
    sizes: dict[str, int] = {}

    def size(address: str) -> int:
        if address not in sizes:
            sizes[address] = len(reader.get(address, BROWSER).data)
        return sizes[address]

    weights = {}
    for rule in _pages(app):
        address = fill(app, rule, ids.get(rule.endpoint.split(".")[0], {}))
        page = reader.get(address)
        if page.status_code == 200 and b"<html" in page.data:
            weights[rule.endpoint] = size(address) + sum(
                size(file) for file in {*_files(page)} if file
            )
    assert len(weights) > 30
    print(
        sorted(weights.items(), key=lambda x: -x[1])[:8],
        sorted(sizes.items(), key=lambda x: -x[1])[:12],
    )
    assert {page: weight for page, weight in weights.items() if weight > FIRST_LOAD} == {}
