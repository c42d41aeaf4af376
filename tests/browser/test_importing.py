"""A file goes out of one workspace and into another one, in a browser; no obstacle on the way."""

from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.browser.conftest import Site
from tests.factories import scenes
from tests.support.browser import PageErrors
from tests.web.support import Town, settle


def _taken_out(page: Page, site: Site, automation: str, folder: Path) -> Path:
    page.goto(f"{site.address}/automations/{automation}")
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def test_a_file_becomes_a_draft_in_another_workspace(
    page: Page,
    page_errors: PageErrors,
    house: House,
    site: Site,
    acme: Town,
    uow: UnitOfWork,
    clock: FixedClock,
    tmp_path: Path,
) -> None:
    scene = scenes.full(house, clock, acme.workspace_id)
    globex = settle(uow, "Globex")
    site.sign_in(page, acme.people["owner"])
    file = _taken_out(page, site, scene.automations["active"], tmp_path)
    assert file.name == "trial-lifecycle.json"
    page.context.clear_cookies()
    site.sign_in(page, globex.people["owner"])
    page.goto(f"{site.address}/automations")
    page.get_by_role("link", name="Import…").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Show what it is").click()
    expect(page.get_by_role("heading", name="Import “Trial lifecycle”")).to_be_visible()
    expect(page.get_by_role("heading", name="What is not here")).to_be_visible()
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Trial lifecycle")
    expect(page.get_by_text("Draft created from the file.")).to_be_visible()
    assert page_errors.found == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_an_import_has_an_obstacle_or_is_wider_than_a_phone(
    browser: Browser,
    house: House,
    site: Site,
    acme: Town,
    uow: UnitOfWork,
    clock: FixedClock,
    tmp_path: Path,
    scheme: Literal["light", "dark"],
) -> None:
    scene = scenes.full(house, clock, acme.workspace_id)
    globex = settle(uow, "Globex")
    context = browser.new_context(
        viewport={"width": 320, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    file = _taken_out(page, site, scene.automations["active"], tmp_path)
    context.clear_cookies()
    site.sign_in(page, globex.people["owner"])
    found = {}
    for sent, told in ((file.read_text(), "What is not here"), ("no file", "Nothing was created.")):
        page.goto(f"{site.address}/automations/import")
        page.get_by_label("Or its text").fill(sent)
        page.get_by_role("button", name="Show what it is").click()
        expect(page.get_by_text(told)).to_be_visible()
        broken = Axe().run(page).response["violations"]
        found[told] = ([each["id"] for each in broken], page.evaluate(
            "document.documentElement.scrollWidth"
        ))  # fmt: skip
    context.close()
    assert set(map(str, found.values())) == {str(([], 320))}
