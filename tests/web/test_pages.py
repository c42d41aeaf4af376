"""What holds for every page, whatever it shows: generated from the routes and from the links."""

import pytest
from flask import Flask

from engine.accounts.models import ROLES
from engine.accounts.permissions import PERMISSIONS
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.web.samples import furnish
from tests.web.support import (
    Reader,
    Town,
    crawl,
    everything,
    fill,
    forms,
    methods,
    page_rules,
    plain_pages,
    tree,
)
from web import auth


def test_every_route_says_who_may_open_it(app: Flask) -> None:
    known = {"", "*", *PERMISSIONS}
    with app.app_context():
        unsaid = [r.endpoint for r in page_rules(app) if auth.asked_of(r.endpoint) not in known]
    assert unsaid == []


def test_an_id_of_another_workspace_is_unknown_on_every_page(
    app: Flask, house: House, clock: FixedClock, acme: Town, other: Town
) -> None:
    ids = furnish(house, clock, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    with_ids = [rule for rule in page_rules(app) if rule.arguments]
    assert with_ids
    for rule in with_ids:
        address = fill(app, rule, ids[rule.endpoint.split(".")[0]])
        for method in methods(rule):
            answer = reader.get(address) if method == "GET" else reader.post(address)
            assert answer.status_code == 404, f"{method} {address}"


def test_lists_show_nothing_of_another_workspace(
    app: Flask, house: House, clock: FixedClock, acme: Town, other: Town
) -> None:
    ids = furnish(house, clock, acme.workspace_id)
    # The key of a step and the number of a revision mean nothing elsewhere.
    plain = {"key", "number"}
    foreign = {value for each in ids.values() for name, value in each.items() if name not in plain}
    foreign |= {*acme.people.values(), *acme.ids.values()}
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    for path, answer in crawl(reader):
        assert [word for word in foreign if word in answer.text] == [], path


@pytest.mark.parametrize("furnished", [True, False], ids=["full", "empty"])
@pytest.mark.parametrize("role", ROLES)
def test_nothing_visible_leads_to_a_refusal(
    app: Flask, house: House, clock: FixedClock, acme: Town, role: str, furnished: bool
) -> None:
    if furnished:
        furnish(house, clock, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    seen = dict(crawl(reader))
    assert len(seen) > 5
    assert {path: answer.status for path, answer in seen.items() if answer.status_code >= 400} == {}
    actions = {action for answer in seen.values() for action in forms(answer)}
    assert actions
    assert {path for path in actions if not _may_send(app, path, role)} == set()


def _may_send(app: Flask, path: str, role: str) -> bool:
    """Whether the route behind a form is open to the role."""
    endpoint, _arguments = app.url_map.bind("localhost").match(path.partition("?")[0], "POST")
    with app.app_context():
        asked = auth.asked_of(endpoint)
    return asked in {"", "*"} or role in PERMISSIONS[str(asked)]


def test_every_page_has_one_heading(
    app: Flask, house: House, clock: FixedClock, acme: Town
) -> None:
    furnish(house, clock, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    headings = {
        path: len(tree(answer).xpath("//h1"))
        for path, answer in crawl(reader)
        if answer.mimetype == "text/html" and answer.status_code == 200
    }
    assert {path for path, count in headings.items() if count != 1} == set()
    assert len(headings) > 10


def test_reading_changes_nothing(
    app: Flask, house: House, clock: FixedClock, uow: UnitOfWork, acme: Town
) -> None:
    furnish(house, clock, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    with uow.read() as session:
        before = everything(session)
    visited = [path for path, _answer in crawl(reader)]
    assert len(visited) > 10
    with uow.read() as session:
        assert everything(session) == before


def test_every_page_without_an_id_opens_for_the_owner(app: Flask, owner: Reader) -> None:
    for path in plain_pages(app):
        # The search box sends people on; without a word to look for there is nothing to do.
        assert owner.get(path).status_code in {200, 302, 303, 400}, path


def test_a_page_that_only_answers_to_forms_refuses_to_be_read(app: Flask, owner: Reader) -> None:
    plain = {rule.rule for rule in page_rules(app) if not rule.arguments}
    only_forms = plain - set(plain_pages(app))
    assert "/sign-out" in only_forms
    for path in only_forms:
        assert owner.get(path).status_code == 405, path
