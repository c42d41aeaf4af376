"""On a narrow screen a row of a table stands as a block: nothing lies beside the screen."""

import pytest
from playwright.sync_api import Browser

from engine.core.clock import FixedClock
from engine.house import House
from tests.browser.conftest import Site
from tests.factories import accounts
from tests.web.samples import furnish
from tests.web.support import Town

LISTS = ("/runs", "/people", "/automations", "/sends", "/suppressions", "/api-keys", "/audit")
OUTSIDE = """() => [...document.querySelectorAll('.table tbody :is(a, .sig, time, bdi)')]
    .filter(each => each.getClientRects().length)
    .filter(each => each.getBoundingClientRect().right > innerWidth)
    .map(each => each.textContent)"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_at_400_pixels_every_value_and_button_of_a_list_is_on_the_screen(
    browser: Browser, house: House, site: Site, acme: Town, clock: FixedClock, language: str
) -> None:
    furnish(house, clock, acme.workspace_id)
    with house.runtime.uow.begin() as session:
        accounts.api_key(session, acme.workspace_id, name="Shop")
    context = browser.new_context(viewport={"width": 400, "height": 800})
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    seen = 0
    for address in LISTS:
        page.goto(f"{site.address}{address}?lang={language}")
        seen += page.locator(".table tbody tr").count()
        assert page.evaluate(OUTSIDE) == [], address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert page.locator("header.top").bounding_box()["height"] < 60  # type: ignore[index]
    assert seen > len(LISTS)
    context.close()
