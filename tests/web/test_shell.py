"""The frame of every page: what it says of the workspace, wherever a reader stands."""

from collections import Counter
from typing import Any

from flask import Flask

from engine.accounts import queries, service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as make
from tests.web.samples import furnish
from tests.web.support import Reader, Town, crawl, tree

COMMAND = "stellwerk workspace resume --workspace"
WORDS = {
    "en": ("This workspace has been suspended", "no step runs and no mail leaves"),
    "de": ("Dieser Arbeitsbereich ist seit", "Kein Schritt läuft, und keine Mail geht hinaus"),
}


def _notices(page: Any) -> list[str]:
    found = page.xpath("//*[@role='status'][contains(@class, 'banner')]")
    return [" ".join(each.text_content().split()) for each in found]


def _suspend(uow: UnitOfWork, town: Town, clock: FixedClock) -> None:
    with uow.begin() as session:
        service.suspend(session, town.workspace_id, make.ACTOR, clock.now())


def test_every_page_of_a_suspended_workspace_says_what_stands_still_and_who_lifts_it(
    app: Flask, house: House, clock: FixedClock, uow: UnitOfWork, acme: Town
) -> None:
    furnish(house, clock, acme.workspace_id)
    _suspend(uow, acme, clock)
    reader = Reader(app)
    reader.sign_in(acme.people["support"])
    missing, seen = [], Counter[str]()
    for path, answer in [*crawl(reader), ("/nothing/here", reader.get("/nothing/here"))]:
        page = tree(answer) if answer.mimetype == "text/html" and answer.data else None
        # A mail as it was sent stands in a frame of its own; a redirection has none.
        if page is None or not page.xpath("//nav[contains(@class, 'side')]"):
            continue
        language = page.get("lang")
        seen[language] += 1
        said = [each for each in _notices(page) if COMMAND in each]
        if len(said) != 1 or not all(word in said[0] for word in WORDS[language]):
            missing.append(path)
    assert missing == []
    assert min(seen["en"], seen["de"]) > 5, seen


def test_the_command_that_lifts_a_suspension_names_the_workspace(
    app: Flask, uow: UnitOfWork, clock: FixedClock, acme: Town, owner: Reader
) -> None:
    _suspend(uow, acme, clock)
    [code] = tree(owner.get("/")).xpath("//*[@role='status']//code[contains(., 'resume')]/text()")
    with uow.read() as session:
        line = queries.get_workspace(session, acme.workspace_id)
    assert line is not None
    assert code == f"{COMMAND} {line.public_id}"


def test_neighbours_and_who_goes_on_again_read_nothing_of_a_suspension(
    app: Flask, uow: UnitOfWork, clock: FixedClock, acme: Town, other: Town, owner: Reader
) -> None:
    _suspend(uow, acme, clock)
    neighbour = Reader(app)
    neighbour.sign_in(other.people["owner"])
    assert COMMAND not in neighbour.get("/").text
    assert COMMAND in owner.get("/").text
    with uow.begin() as session:
        service.resume(session, acme.workspace_id, make.ACTOR, clock.now())
    assert COMMAND not in owner.get("/").text
