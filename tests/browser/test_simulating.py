"""Simulate and why in a real browser: people offered, the answer swapped in, no obstacle."""

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from engine.core.clock import FixedClock
from engine.house import House
from tests.browser.conftest import Site
from tests.factories import scenes
from tests.support.browser import PageErrors
from tests.web.support import Town

KIM = "kim.arnold@partner.example"


def test_a_person_is_offered_and_the_answer_swapped_in_by_keyboard(
    page: Page, page_errors: PageErrors, house: House, site: Site, acme: Town, clock: FixedClock
) -> None:
    scene = scenes.full(house, clock, acme.workspace_id)
    site.sign_in(page, acme.people["support"])
    page.goto(f"{site.address}/automations/{scene.automations['active']}/simulate")
    field = page.get_by_label("Address or number")
    field.focus()
    page.keyboard.type("kim", delay=20)
    expect(page.locator("#picks option")).to_have_count(1)
    assert page.locator("#picks option").get_attribute("value") == KIM
    field.fill(KIM)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Simulate")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Kim Arnold")).to_be_visible()
    expect(page.get_by_role("button", name="Simulate")).to_be_focused()
    assert "contact=kim" in page.url
    page.get_by_text("Subject: Welcome, Kim").first.click()
    frame = page.frame_locator("iframe").first
    expect(frame.get_by_role("heading", name="Hello Kim")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Address or number")).to_have_value("")
    # The mail's own picture is not loaded: nobody learns that it was looked at.
    assert all("tracker.example" in found for found in page_errors.found), page_errors.found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_answer_has_an_obstacle_or_is_wider_than_a_phone(
    browser: Browser,
    house: House,
    site: Site,
    acme: Town,
    clock: FixedClock,
    scheme: Literal["light", "dark"],
) -> None:
    scene = scenes.full(house, clock, acme.workspace_id)
    live, first = scene.automations["active"], scene.people["first"]
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page, axe = context.new_page(), Axe()
    site.sign_in(page, acme.people["owner"])
    found: dict[str, list[str]] = {}
    for address in (
        f"/automations/{live}/simulate?contact={first}",
        f"/automations/{live}/simulate?as=invented&go=1&email=nope",
        f"/automations/{scene.automations['draft']}/simulate?contact={first}",
        f"/automations/{live}/why?contact={first}",
        f"/automations/{live}/why?contact=nobody",
        f"/people/{first}/why?automation={scene.automations['maze']}",
        f"/people/{first}/events",
    ):
        page.goto(site.address + address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, address
        answer = axe.run(page).response
        found[address] = [each["id"] for each in answer["violations"]]
    context.close()
    assert {address: what for address, what in found.items() if what} == {}
