"""The editor of templates as a browser shows it: the preview follows what is typed."""

from playwright.sync_api import BrowserContext, expect

from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.factories import audience, delivery
from tests.support.browser import PageErrors
from tests.web.support import Town


def test_the_preview_follows_the_typing_and_saving_works_afterwards(
    site: Site,
    acme: Town,
    uow: UnitOfWork,
    browser_context: BrowserContext,
    page_errors: PageErrors,
) -> None:
    with uow.begin() as session:
        audience.contact(session, acme.workspace_id, "kim@people.example", first_name="Kim")
        template = delivery.template(session, acme.workspace_id).public_id
    page = browser_context.new_page()
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/templates/{template}")
    frame = page.frame_locator("iframe#mail")
    expect(frame.locator("body")).to_contain_text("Hello Test")
    page.get_by_label("Preview for").fill("kim@people.example")
    expect(page.locator("#preview")).to_contain_text("Hello Kim")
    page.get_by_label("Text of the mail").fill(
        '<p style="color: red">Dear {{ contact.first_name }}</p>'
    )
    expect(frame.locator("p")).to_have_text("Dear Kim")
    expect(frame.locator("p")).to_have_css("color", "rgb(255, 0, 0)")
    expect(page.get_by_label("Text of the mail")).to_be_focused()
    page.get_by_label("Text of the mail").fill("{% if %}")
    expect(page.locator("#preview")).to_contain_text("It does not work")
    page.get_by_label("Text of the mail").fill("<p>Done</p>")
    page.get_by_role("button", name="Save template").click()
    expect(page.locator("#said")).to_contain_text("The template is saved.")
    expect(frame.locator("body")).to_contain_text("Done")
    assert page_errors.found == []
