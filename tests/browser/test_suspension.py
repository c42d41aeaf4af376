"""The notice of a suspension is seen on a small screen, in both themes and both languages."""

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from engine.accounts import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.factories import automations as make
from tests.web.support import Town


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_notice_of_a_suspension_is_seen_and_fits(
    browser: Browser,
    site: Site,
    acme: Town,
    uow: UnitOfWork,
    clock: FixedClock,
    width: int,
    scheme: Literal["light", "dark"],
    language: str,
) -> None:
    with uow.begin() as session:
        service.suspend(session, acme.workspace_id, make.ACTOR, clock.now())
    context = browser.new_context(
        viewport={"width": width, "height": 640}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    site.sign_in(page, acme.people["editor"])
    page.goto(f"{site.address}/automations?lang={language}")
    notice = page.locator("[role=status].banner", has_text="stellwerk workspace resume")
    box = notice.bounding_box()
    assert notice.is_visible()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert Axe().run(page).response["violations"] == []
    context.close()
