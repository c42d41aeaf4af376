"""The confirmations: opened over the page, safe button first, and all of it without script too."""

from playwright.sync_api import Browser, Page, expect

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.factories import audience as people
from tests.factories import automations as making
from tests.support.browser import PageErrors
from tests.web.support import Town


def _waiting(uow: UnitOfWork, town: Town, clock: FixedClock) -> str:
    with uow.begin() as session:
        raw = making.document(making.delay("wait"))
        row = making.live(session, town.workspace_id, raw, clock.now())
        person = people.contact(session, town.workspace_id)
        making.fire(session, town.workspace_id, [person], clock.now())
        return row.public_id


def test_the_dialog_opens_over_the_page_and_escape_leaves_all_as_it_was(
    site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock, page: Page, page_errors: PageErrors
) -> None:
    address = f"{site.address}/automations/{_waiting(uow, acme, clock)}"
    site.sign_in(page, acme.people["owner"])
    page.goto(address)
    page.click("text=Pause…")
    expect(page.get_by_role("dialog", name="Pause “Welcome”?")).to_be_visible()
    expect(page.get_by_role("button", name="Keep running")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Pause…")).to_be_focused()
    assert page.url == address
    assert page_errors.found == []


def test_confirming_says_what_was_done_where_it_was_asked(
    site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock, page: Page, page_errors: PageErrors
) -> None:
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/automations/{_waiting(uow, acme, clock)}")
    page.click("text=Pause…")
    page.get_by_role("button", name="Pause for 1 person").dblclick()
    expect(page.locator("#said")).to_contain_text("Automation paused: “Welcome”.")
    expect(page.locator(".head .sig")).to_have_text("Paused")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#said")).to_be_empty()
    assert page_errors.found == []


def test_without_script_the_dialog_stands_in_the_page_and_works(
    browser: Browser, site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en-GB")
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/automations/{_waiting(uow, acme, clock)}")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="Pause…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_role("button", name="Pause for 1 person").click()
    expect(page.locator(".head .sig")).to_have_text("Paused")
    context.close()
