"""axe finds nothing to complain about on any page: full and empty, light and dark."""

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from engine.core.clock import FixedClock
from engine.house import House
from tests.browser.conftest import Site
from tests.browser.pages import addresses
from tests.web.samples import furnish
from tests.web.support import Town

Scheme = Literal["light", "dark"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("furnished", [True, False], ids=["full", "empty"])
def test_no_page_has_an_obstacle(
    browser: Browser,
    house: House,
    site: Site,
    acme: Town,
    clock: FixedClock,
    scheme: Scheme,
    furnished: bool,
) -> None:
    ids = furnish(house, clock, acme.workspace_id) if furnished else {}
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page, axe = context.new_page(), Axe()
    page.goto(f"{site.address}/")
    found = {"sign-in": _obstacles(axe.run(page).response)}
    site.sign_in(page, acme.people["owner"])
    for address in [*addresses(site.app, ids), "/nothing/here"]:
        page.goto(site.address + address)
        found[address] = _obstacles(axe.run(page).response)
    context.close()
    assert len(found) > 7
    assert {address: what for address, what in found.items() if what} == {}


def _obstacles(answer: dict[str, list[dict[str, object]]]) -> list[str]:
    """Return what axe found, each with the elements it means."""
    return [
        f"{each['id']}: {[node['html'] for node in each['nodes']][:3]}"  # type: ignore[attr-defined]
        for each in answer["violations"]
    ]
