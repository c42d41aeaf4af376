"""The user guide: a page for every page of the console, in both languages, with sound links."""

import pytest
from flask import Flask
from lxml import html

from engine.core.clock import FixedClock
from engine.house import House
from tests.web.samples import furnish
from tests.web.support import Reader, Town, fill, links, methods, page_rules, tree
from web.help import topics
from web.help.topics import TOPICS, topic_of
from web.i18n import LANGUAGES


def test_every_page_of_the_console_leads_to_its_own_help(
    app: Flask, house: House, clock: FixedClock, acme: Town
) -> None:
    ids = furnish(house, clock, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    without, seen = [], 0
    for rule in page_rules(app):
        area = rule.endpoint.split(".")[0]
        if "GET" not in methods(rule) or area == "help":
            continue
        answer = reader.get(fill(app, rule, ids.get(area, {})))
        page = _full_page(answer.mimetype, answer.data)
        if answer.status_code != 200 or page is None:
            continue
        seen += 1
        expected = f"/help/{topic_of(rule.endpoint)}"
        if _help(page) != [expected] or reader.get(expected).status_code != 200:
            without.append((rule.endpoint, _help(page)))
    assert without == []
    assert seen > 15


def test_help_stands_at_the_same_place_of_every_page(owner: Reader) -> None:
    addresses = ["/", "/automations", "/runs", "/settings", "/help", "/help/pausing", "/no/page"]
    places = {address: _neighbours(tree(owner.get(address))) for address in addresses}
    assert len(set(places.values())) == 1, places


def test_a_page_without_a_topic_leads_to_all_of_them(owner: Reader) -> None:
    assert _help(tree(owner.get("/nothing/here"))) == ["/help"]
    listed = {link for link in links("/help", owner.get("/help")) if link.startswith("/help/")}
    assert listed == {f"/help/{name}" for name in TOPICS}


@pytest.mark.parametrize("asked", ["pause", "resume", "stop"])
def test_an_open_dialog_leads_to_its_own_topic(asked: str) -> None:
    assert topic_of("automations.detail", asked) == "pausing"
    assert topic_of("automations.detail") == "editor"


def test_every_topic_that_a_page_names_exists_and_every_page_has_its_route(app: Flask) -> None:
    named = {*topics._AREAS.values(), *topics._PAGES.values(), "pausing", "publishing"}
    assert named == set(TOPICS)
    known = set(app.view_functions)
    assert {topic.opens for topic in TOPICS.values() if topic.opens} - known == set()
    assert set(topics._PAGES) - known == set()
    assert set(topics._AREAS) - set(app.blueprints) == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("role", ["owner", "support"])
def test_every_topic_reads_in_every_language_and_has_no_dead_link(
    app: Flask, acme: Town, language: str, role: str
) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    dead = []
    for name in TOPICS:
        address = f"/help/{name}?lang={language}"
        answer = reader.get(address)
        page = tree(answer)
        assert page.get("lang") == language
        assert len(_text(page)) > 200, name
        for link in {*links(address, answer)}:
            if link not in dead and reader.get(link).status_code >= 400:
                dead.append(link)
    assert dead == []


def test_a_topic_that_does_not_exist_is_an_unknown_page(owner: Reader) -> None:
    assert owner.get("/help/made-up-topic").status_code == 404
    assert owner.get("/help/page").status_code == 404


def test_a_stranger_is_asked_to_sign_in_first(stranger: Reader) -> None:
    assert stranger.get("/help/pausing").status_code in {302, 303}


def _full_page(mimetype: str | None, body: bytes) -> html.HtmlElement | None:
    """Return the page where it has the frame of the console; a fragment or a mail has none."""
    page = html.document_fromstring(body) if mimetype == "text/html" and body else None
    return page if page is not None and page.xpath("//nav[contains(@class, 'side')]") else None


def _help(page: html.HtmlElement) -> list[str]:
    return [str(href) for href in page.xpath("//header//a[starts-with(@href, '/help')]/@href")]


def _neighbours(page: html.HtmlElement) -> tuple[str, ...]:
    """Return the header's own children in their order, the help named as such."""
    [header] = page.xpath("//header[contains(@class, 'top')]")
    return tuple(
        "help" if str(child.get("href", "")).startswith("/help") else child.get("class", child.tag)
        for child in header
    )


def _text(page: html.HtmlElement) -> str:
    [article] = page.xpath("//article")
    return " ".join(article.text_content().split())
