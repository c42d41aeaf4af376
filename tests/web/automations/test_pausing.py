"""An automation that its breaker paused: who, why, the last errors, the way out (decision A12)."""

import pytest
from flask import Flask

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories.breaking import broken
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

NOTE = "section[aria-labelledby=broken-title]"


@pytest.fixture
def automation(uow: UnitOfWork, clock: FixedClock, acme: Town) -> str:
    """Return the public id of an automation that the breaker has paused."""
    return broken(uow, clock, acme.workspace_id)[0].public_id


def test_the_page_says_who_paused_it_why_and_what_failed_last(
    owner: Reader, automation: str
) -> None:
    page = tree(owner.get(f"/automations/{automation}"))
    assert "(the breaker)" in words(one(page, ".true-now"))
    note = one(page, NOTE)
    assert texts(note, "h2") == ["The breaker paused it: too many runs failed one after the other."]
    errors = texts(note, "li")
    assert len(errors) == 5
    assert errors[0].startswith("No4 , Mail “Reminder” : The person has no e-mail address.")
    for link in pick(note, "li a"):
        assert owner.get(str(link.get("href"))).status_code == 200
    assert texts(page, "[data-dialog=ask-resume]") == ["Resume…"]
    assert pick(note, "[data-dialog=ask-resume]")


def test_resuming_from_the_note_takes_it_away(owner: Reader, automation: str) -> None:
    page = tree(owner.get(f"/automations/{automation}?ask=resume"))
    assert pick(page, "dialog[open]#ask-resume")
    assert owner.post(f"/automations/{automation}/resume").status_code == 303
    assert not pick(tree(owner.get(f"/automations/{automation}")), NOTE)


def test_who_may_not_resume_sees_the_errors_without_the_button(
    app: Flask, acme: Town, automation: str
) -> None:
    support = Reader(app)
    support.sign_in(acme.people["support"])
    page = tree(support.get(f"/automations/{automation}"))
    assert len(texts(one(page, NOTE), "li")) == 5
    assert not pick(page, "[data-dialog=ask-resume]")


def test_a_pause_by_a_person_says_nothing_of_a_breaker(owner: Reader, automation: str) -> None:
    owner.post(f"/automations/{automation}/resume")
    owner.post(f"/automations/{automation}/pause")
    assert not pick(tree(owner.get(f"/automations/{automation}")), NOTE)
