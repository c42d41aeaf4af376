"""Which language a page speaks, and the zone of its times."""

import pytest
from flask import Flask
from sqlalchemy import update

from engine.accounts.models import User
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.web.samples import furnish
from tests.web.support import Reader, Town, fill, methods, page_rules, tree

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}


def _language(reader: Reader, path: str = "/", headers: dict[str, str] | None = None) -> str:
    return str(tree(reader.get(path, headers)).get("lang"))


@pytest.mark.parametrize(
    ("accepted", "spoken"),
    [("de-AT,de;q=0.9", "de"), ("en-GB", "en"), ("fr,it", "en"), ("fr,de;q=0.2", "de"), ("", "en")],
)
def test_a_stranger_is_spoken_to_as_the_browser_asks(
    stranger: Reader, accepted: str, spoken: str
) -> None:
    assert _language(stranger, headers={"Accept-Language": accepted}) == spoken


def test_a_link_changes_the_language_of_the_session(stranger: Reader) -> None:
    assert _language(stranger, "/?lang=de") == "de"
    assert _language(stranger) == "de"
    assert _language(stranger, "/?lang=en", GERMAN) == "en"


@pytest.mark.parametrize("unknown", ["fr", "", "de_DE", "../de"])
def test_a_language_we_do_not_speak_changes_nothing(stranger: Reader, unknown: str) -> None:
    assert _language(stranger, f"/?lang={unknown}") == "en"
    assert stranger.post("/language", {"language": unknown}).status_code == 400


def test_a_form_changes_the_language_and_leads_back(stranger: Reader) -> None:
    answer = stranger.post("/language", {"language": "de", "next": "/?next=/runs"})
    assert (answer.status_code, answer.location) == (303, "/?next=/runs")
    assert _language(stranger) == "de"


def test_a_persons_own_choice_comes_before_the_browsers(
    uow: UnitOfWork, acme: Town, stranger: Reader
) -> None:
    with uow.begin() as session:
        session.execute(update(User).values(language="de"))
    stranger.sign_in(acme.people["owner"])
    assert _language(stranger, headers={"Accept-Language": "en"}) == "de"
    assert _language(stranger, "/?lang=en") == "en"


def test_a_person_without_a_choice_is_spoken_to_as_the_browser_asks(owner: Reader) -> None:
    assert _language(owner, headers=GERMAN) == "de"


def test_german_pages_are_german(stranger: Reader) -> None:
    assert tree(stranger.get("/?lang=de")).xpath("//h1/text()") == ["Anmelden"]


def test_the_choice_survives_signing_in(stranger: Reader, acme: Town) -> None:
    stranger.get("/?lang=de")
    stranger.sign_in(acme.people["owner"])
    assert _language(stranger) == "de"


def test_every_page_answers_alike_in_every_language(
    app: Flask, house: House, clock: FixedClock, acme: Town
) -> None:
    ids = furnish(house, clock, acme.workspace_id)
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    rules = [rule for rule in page_rules(app) if "GET" in methods(rule)]
    pages = [fill(app, rule, ids.get(rule.endpoint.split(".")[0], {})) for rule in rules]
    assert len(pages) > 30
    english = {page: reader.get(page).status_code for page in pages}
    assert _language(reader, "/?lang=de") == "de"
    assert {page: reader.get(page).status_code for page in pages} == english
    assert max(english.values()) < 500
