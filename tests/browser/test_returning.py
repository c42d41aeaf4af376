"""Going away and coming back: filters and place are kept, and so is the way to the page."""

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.browser.conftest import Site
from tests.browser.pages import addresses
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories.accounts import PASSWORD
from tests.web.samples import furnish
from tests.web.support import Town

CUT_OFF = """() => [...document.querySelectorAll('.btn, label, h1, h2, h3, th, summary, .sig')]
    .filter((each) => each.getClientRects().length && !each.closest('.visually-hidden'))
    .filter((each) => !each.classList.contains('visually-hidden') && !each.querySelector('bdi'))
    .filter((each) => getComputedStyle(each).overflow !== 'visible' ||
                      each.classList.contains('btn'))
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1)
    .map((each) => each.textContent.trim())"""


def test_a_filter_and_the_place_on_the_page_are_kept_on_back_and_on_reload(
    page: Page, site: Site, acme: Town, uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        raw = making.document(making.delay("wait"))
        making.live(session, acme.workspace_id, raw, clock.now())
        names = ("Ada", "Kim") * 20
        persons = [people.contact(session, acme.workspace_id, first_name=name) for name in names]
        making.fire(session, acme.workspace_id, persons, clock.now())
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/runs")
    page.get_by_label("Person", exact=True).fill("ada")
    page.get_by_label("Status").select_option("running")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(20)
    filtered = page.url
    assert "q=ada" in filtered
    last = page.locator("tbody th a").last
    last.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 200
    last.click()
    expect(page.locator(".log")).to_be_visible()
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(20)
    assert page.url == filtered
    page.wait_for_function(f"Math.abs(scrollY - {place}) < 5")
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(20)
    expect(page.get_by_label("Person", exact=True)).to_have_value("ada")
    expect(page.get_by_label("Status")).to_have_value("running")


def test_who_lost_the_session_in_the_rail_signs_in_and_is_back(
    page: Page, site: Site, acme: Town, house: House, clock: FixedClock
) -> None:
    ids = furnish(house, clock, acme.workspace_id)
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/automations/{ids['automations']['public_id']}")
    page.context.clear_cookies()
    page.get_by_role("link", name="Wait 3 days", exact=True).first.click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.locator("#rail")).to_have_count(0)
    page.fill("#email", acme.people["owner"])
    page.fill("#password", PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".plan")).to_be_visible()
    assert f"/automations/{ids['automations']['public_id']}" in page.url


@pytest.mark.timeout(240)
@pytest.mark.parametrize("width", [400, 1280])
def test_no_german_label_is_cut_off_and_the_language_is_changed_on_the_same_page(
    browser: Browser, site: Site, acme: Town, house: House, clock: FixedClock, width: int
) -> None:
    ids = furnish(house, clock, acme.workspace_id)
    context = browser.new_context(viewport={"width": width, "height": 800}, locale="en-GB")
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/runs?status=completed&q=ada")
    tongue = page.get_by_role("link", name="Deutsch (DE)")
    if width < 1000:
        page.get_by_text("Menu", exact=True).click()
    tongue.first.click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert "/runs?status=completed&q=ada" in page.url
    expect(page.locator("tbody tr")).to_have_count(1)
    cut = {}
    for address in addresses(site.app, ids):
        page.goto(site.address + address)
        cut[address] = page.evaluate(CUT_OFF)
    context.close()
    assert len(cut) > 20
    assert {address: words for address, words in cut.items() if words} == {}
