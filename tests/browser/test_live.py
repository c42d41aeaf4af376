"""Two tabs: the second follows the first, keeps its focus, and can be told to stand still."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.factories import automations as making
from tests.support.browser import PageErrors
from tests.web.automations.running import Running
from tests.web.support import Reader, Town

WITHIN = 5_000


@pytest.fixture
def running(site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Running:
    """Return a live automation with three people inside, and the owner who pauses it elsewhere."""
    elsewhere = Reader(site.app)
    elsewhere.sign_in(acme.people["owner"])
    raw = making.document(making.delay("wait"), making.delay("more"), on_pause="hold")
    found = Running(elsewhere, uow, acme, clock, raw)
    found.enter(3)
    return found


@pytest.fixture
def tab(browser: Browser, site: Site, acme: Town, running: Running) -> Iterator[Page]:
    """Return a tab in which an admin has the automation open."""
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    site.sign_in(page, acme.people["admin"])
    page.goto(f"{site.address}{running.page}")
    yield page
    context.close()


def test_a_second_tab_follows_a_pause_without_reload_and_keeps_its_focus(
    tab: Page, acme: Town, running: Running
) -> None:
    tab.get_by_role("link", name="Wait 1 day").first.click()
    tab.get_by_label("How long").fill("77")
    tab.evaluate("document.documentElement.dataset.same = 'yes'")
    running.reader.post(f"{running.page}/pause")
    expect(tab.locator("#signal")).to_have_text("Paused", timeout=WITHIN)
    expect(tab.locator("#said")).to_contain_text(f"{acme.people['owner']} paused it")
    expect(tab.get_by_role("button", name="Resume…")).to_be_visible()
    assert tab.evaluate("document.documentElement.dataset.same") == "yes"
    expect(tab.get_by_label("How long")).to_be_focused()
    expect(tab.get_by_label("How long")).to_have_value("77")


def test_numbers_follow_and_move_nothing(tab: Page, running: Running) -> None:
    before = tab.locator("#at-wait").bounding_box()
    running.enter(2)
    expect(tab.locator("#in-wait")).to_have_text("5", timeout=WITHIN)
    expect(tab.locator("#all-inside")).to_have_text("5")
    assert tab.locator("#at-wait").bounding_box() == before


def test_a_page_told_to_stand_still_does_and_follows_again(tab: Page, running: Running) -> None:
    tab.get_by_role("button", name="Stop following").click()
    expect(tab.locator("#live-state")).to_have_text("This page stands still.")
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    running.enter(2)
    tab.get_by_role("button", name="Follow").click()
    expect(tab.locator("#in-wait")).to_have_text("5", timeout=WITHIN)
    assert any("/live" in url for url in asked)


def test_an_open_dialog_is_not_swapped_away(tab: Page, running: Running) -> None:
    tab.get_by_role("button", name="Pause…").click()
    running.enter(1)
    expect(tab.get_by_role("dialog", name="Pause “Welcome”?")).to_be_visible()
    tab.get_by_role("button", name="Keep running").click()
    expect(tab.locator("#in-wait")).to_have_text("4", timeout=WITHIN)
    tab.get_by_role("button", name="Pause…").click()
    expect(tab.get_by_role("button", name="Pause for 4 people")).to_be_visible()


def test_an_ended_session_leaves_what_was_typed(
    tab: Page, site: Site, running: Running, page_errors: PageErrors
) -> None:
    tab.get_by_role("link", name="Wait 1 day").first.click()
    with tab.expect_response("**/sentence*"):
        tab.get_by_label("How long").fill("77")
    tab.context.clear_cookies()
    expect(tab.locator("#live-state")).to_have_text(
        "This page follows no longer. Load it anew.", timeout=WITHIN
    )
    expect(tab.get_by_label("How long")).to_have_value("77")
    assert page_errors.found == []


def test_who_stands_on_a_button_that_is_shown_anew_stays_on_it(tab: Page, running: Running) -> None:
    tab.get_by_role("button", name="Pause…").focus()
    running.enter(2)
    expect(tab.locator("#in-wait")).to_have_text("5", timeout=WITHIN)
    expect(tab.get_by_role("button", name="Pause…")).to_be_focused()
    running.reader.post(f"{running.page}/pause")
    expect(tab.get_by_role("button", name="Resume…")).to_be_focused(timeout=WITHIN)
