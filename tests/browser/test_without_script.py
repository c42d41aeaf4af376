"""The path of an automation with JavaScript off: plain links, forms, and dialogs in the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.browser.ground import KIM
from tests.factories import audience as people
from tests.web.support import Town

NAME = "Welcome series"


@pytest.fixture
def plain(browser: Browser, site: Site, acme: Town, uow: UnitOfWork) -> Iterator[Page]:
    """Return the first page of the owner, in a browser that runs no script; one person is there."""
    with uow.begin() as session:
        people.contact(session, acme.workspace_id, KIM, first_name="Kim", last_name="Arnold")
    context = browser.new_context(java_script_enabled=False, locale="en-GB")
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    yield page
    context.close()


def test_an_automation_is_built_switched_and_edited_live_without_script(plain: Page) -> None:
    _build(plain)
    plain.get_by_role("link", name="Check", exact=True).click()
    expect(plain.get_by_text("Checked: the draft can go live")).to_be_visible()
    plain.get_by_role("link", name="Back to the automation").click()
    plain.get_by_role("link", name="Simulate", exact=True).click()
    plain.get_by_label("Address or number").fill(KIM)
    plain.get_by_role("button", name="Simulate").click()
    expect(plain.get_by_role("heading", name="Kim Arnold would come to the end")).to_be_visible()
    plain.get_by_role("link", name="Open the automation").click()
    _confirm(plain, "Activate…", "Activate for new people", "Automation activated")
    _fire(plain)
    _open(plain)
    _confirm(plain, "Pause…", "Pause for 1 person", "Automation paused")
    _confirm(plain, "Resume…", "Resume", "Automation resumed")
    _publish(plain)
    plain.get_by_text("More", exact=True).click()
    _confirm(plain, "Stop…", "Stop for 1 person", "1 person left", sure="Yes, 1 person leaves now")


def _build(page: Page) -> None:
    _area(page, "Automations")
    page.get_by_role("link", name="New automation").first.click()
    page.get_by_label("Name").fill(NAME)
    page.get_by_role("button", name="Create draft").click()
    page.get_by_label("Name of the event").fill("signed_up")
    _save(page)
    page.get_by_role("link", name="Insert a step behind “The event").click()
    page.get_by_role("button", name="Branch", exact=True).click()
    page.get_by_role("combobox", name="Property").select_option("First name")
    page.get_by_label("Value").fill("Kim")
    page.get_by_role("button", name="How many people match now?").click()
    expect(page.get_by_text("1 of 1 people matches now.")).to_be_visible()
    expect(page.get_by_label("Value")).to_have_value("Kim")
    _save(page)
    page.get_by_role("link", name="yes Insert a step behind").click()
    page.get_by_role("button", name="Wait", exact=True).click()
    page.get_by_label("How long").fill("2")
    _save(page)


def _area(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name).click()


def _open(page: Page) -> None:
    _area(page, "Automations")
    page.get_by_role("link", name=NAME).click()


def _save(page: Page) -> None:
    page.get_by_role("button", name="Save in the draft").click()
    expect(page.get_by_role("status").filter(has_text="Saved in the draft.")).to_be_visible()


def _confirm(page: Page, opener: str, verb: str, words: str, sure: str = "") -> None:
    """Have the question loaded into the page, and answer it there."""
    page.get_by_role("button", name=opener).click()
    dialog = page.get_by_role("dialog")
    if sure:
        dialog.get_by_label(sure).check()
    dialog.get_by_role("button", name=verb, exact=True).click()
    expect(page.get_by_role("status").filter(has_text=words)).to_be_visible()


def _fire(page: Page) -> None:
    page.get_by_label("Find a person").first.fill(KIM)
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Fire an event…").click()
    page.get_by_label("Name of the event").fill("signed_up")
    page.get_by_role("button", name="Fire for this person").click()
    expect(page.get_by_text("It started 1 automation.")).to_be_visible()


def _publish(page: Page) -> None:
    page.get_by_role("link", name="Wait 2 days", exact=True).first.click()
    page.get_by_label("How long").fill("3")
    _save(page)
    page.get_by_role("link", name="Publish…").click()
    page.get_by_label("Move: 1 person goes on in revision 2").check()
    page.get_by_role("button", name="Publish revision 2").click()
    expect(page.get_by_text("1 person goes on in it.")).to_be_visible()
