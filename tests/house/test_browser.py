"""The browser of the tests is a real Chromium that shows pages and tells their faults."""

from playwright.sync_api import Page

from tests.support.browser import PageErrors


def test_a_page_is_shown_and_its_script_runs(page: Page) -> None:
    page.set_content("<h1>Stell</h1><script>document.querySelector('h1').append('werk')</script>")
    assert page.inner_text("h1") == "Stellwerk"


def test_a_script_error_is_kept(page: Page, page_errors: PageErrors) -> None:
    with page.context.expect_event("weberror"):
        page.set_content("<script>undefined_function()</script>")
    assert any("undefined_function" in error for error in page_errors.found)
