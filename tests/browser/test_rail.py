"""The rail beside a long plan: the step in sight, the question before leaving, what follows."""

import re

import pytest
from playwright.sync_api import Page, expect

from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.factories import automations as making
from tests.support.browser import PageErrors
from tests.web.support import Town

SIZE = 60


@pytest.fixture
def plan(site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock, page: Page) -> str:
    """Return the address of a draft of sixty waits; the owner is signed in."""
    with uow.begin() as session:
        raw = making.document(*(making.delay(f"wait{n}", n + 1) for n in range(SIZE)))
        saved = service.create(session, acme.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
    site.sign_in(page, acme.people["owner"])
    return f"{site.address}/automations/{saved.public_id}"


def test_the_step_that_is_open_stands_in_sight_beside_its_form(
    page: Page, page_errors: PageErrors, plan: str
) -> None:
    page.goto(plan)
    for days in (41, 7):
        page.get_by_role("link", name=f"Wait {days} days", exact=True).click()
        _both_in_sight(page, f"wait{days - 1}")
        expect(page).to_have_url(f"{plan}?step=wait{days - 1}")
    # The same by a link that somebody was sent, and after a reload.
    page.goto(f"{plan}?step=wait52")
    _both_in_sight(page, "wait52")
    page.reload()
    _both_in_sight(page, "wait52")
    assert page_errors.found == []


def _both_in_sight(page: Page, key: str) -> None:
    expect(page.locator(".station[aria-current=step]")).to_have_id(f"at-{key}")
    expect(page.locator(f"#at-{key}")).to_be_in_viewport(ratio=1)
    expect(page.locator("#rail-title")).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("How long")).to_be_in_viewport(ratio=1)
    station, rail = (page.locator(each).bounding_box() for each in (f"#at-{key}", "#rail"))
    assert station is not None
    assert rail is not None
    assert station["x"] + station["width"] <= rail["x"]


@pytest.mark.parametrize(
    ("choice", "where", "stored"),
    [
        ("Stay", r"\?step=wait3$", "Wait 4 days"),
        ("Discard", r"/runs$", "Wait 4 days"),
        ("Save", r"/runs$", "Wait 99 days"),
    ],
)
def test_leaving_for_another_page_with_something_typed_asks_as_well(
    page: Page, plan: str, choice: str, where: str, stored: str
) -> None:
    page.goto(f"{plan}?step=wait3")
    page.get_by_label("How long").fill("99")
    page.get_by_role("navigation").get_by_role("link", name="Runs").click()
    question = page.get_by_role("dialog", name="Save what you changed?")
    expect(question.get_by_role("button", name="Stay")).to_be_focused()
    question.get_by_role("button", name=choice).click()
    expect(page).to_have_url(re.compile(where))
    if choice == "Stay":
        expect(page.get_by_label("How long")).to_have_value("99")
        page.get_by_label("How long").fill("4")
    page.goto(plan)
    expect(page.locator("#at-wait3 h3")).to_have_text(stored)


def test_the_sentence_of_a_wait_follows_what_is_typed_and_names_the_zone(
    page: Page, plan: str
) -> None:
    page.goto(f"{plan}?step=wait0")
    sentence = page.locator("#comes-to")
    expect(sentence).to_have_attribute("aria-live", "polite")
    expect(sentence).to_contain_text("goes on at the earliest on Tue 3 Mar, 09:00 UTC")
    page.get_by_label("How long").fill("3")
    expect(sentence).to_contain_text("Thu 5 Mar, 09:00 UTC")
    page.get_by_label("Unit").select_option("hours")
    expect(sentence).to_contain_text("Mon 2 Mar, 12:00 UTC")
    page.get_by_label("How long").fill("")
    expect(sentence).to_contain_text("No length yet.")
