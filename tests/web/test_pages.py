"""What holds for every page, whatever it shows: generated from the routes and from the links."""

import pytest
from flask import Flask

from engine.accounts.models import ROLES
from engine.accounts.permissions import PERMISSIONS
from engine.core.unit_of_work import UnitOfWork
from tests.web.samples import SAMPLES
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
    app: Flask, uow: UnitOfWork, acme: Town, other: Town
) -> None:
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    with_ids = [rule for rule in page_rules(app) if rule.arguments]
    assert with_ids
    for rule in with_ids:
        area = rule.endpoint.split(".")[0]
        with uow.begin() as session:
            address = fill(app, rule, SAMPLES[area](session, acme.workspace_id))
        for method in methods(rule):
            answer = reader.get(address) if method == "GET" else reader.post(address)
            assert answer.status_code == 404, f"{method} {address}"


@pytest.mark.parametrize("role", ROLES)
def test_no_visible_link_leads_to_a_refusal(
    app: Flask, uow: UnitOfWork, acme: Town, role: str
) -> None:
    with uow.begin() as session:
        for make in SAMPLES.values():
            make(session, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    seen = dict(crawl(reader))
    assert len(seen) > 3
    assert {path: answer.status for path, answer in seen.items() if answer.status_code >= 400} == {}


@pytest.mark.parametrize("role", ROLES)
def test_no_visible_form_is_forbidden(app: Flask, acme: Town, role: str) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    actions = {action for _path, answer in crawl(reader) for action in forms(answer)}
    with app.test_request_context():
        urls = app.url_map.bind("localhost")
        wanted = {auth.asked_of(urls.match(path, "POST")[0]) for path in actions} - {"", "*"}
    assert actions
    assert [name for name in wanted if name and role not in PERMISSIONS[name]] == []


def test_every_page_has_one_heading(owner: Reader) -> None:
    headings = {
        path: len(tree(answer).xpath("//h1"))
        for path, answer in crawl(owner)
        if answer.mimetype == "text/html"
    }
    assert set(headings.values()) == {1}, headings


def test_reading_changes_nothing(app: Flask, uow: UnitOfWork, acme: Town) -> None:
    with uow.begin() as session:
        for make in SAMPLES.values():
            make(session, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    with uow.read() as session:
        before = everything(session)
    visited = [path for path, _answer in crawl(reader)]
    with uow.read() as session:
        assert everything(session) == before
    assert len(visited) > 3


def test_every_page_without_an_id_opens_for_the_owner(app: Flask, owner: Reader) -> None:
    for path in plain_pages(app):
        assert owner.get(path).status_code in {200, 302}, path


def test_a_page_that_only_answers_to_forms_refuses_to_be_read(app: Flask, owner: Reader) -> None:
    plain = {rule.rule for rule in page_rules(app) if not rule.arguments}
    only_forms = plain - set(plain_pages(app))
    assert "/sign-out" in only_forms
    for path in only_forms:
        assert owner.get(path).status_code == 405, path
