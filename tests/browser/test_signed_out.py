"""A session that ends while somebody types: nobody is led away, and nothing typed is lost."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import func, select

from engine.accounts.service import revoke_sessions
from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import Template
from tests.browser.conftest import Site
from tests.factories import automations as making
from tests.factories.accounts import PASSWORD
from tests.support.browser import PageErrors
from tests.web.support import Town

End = Callable[[], None]
KEPT = "Your session had ended. What you had typed is back in its fields"


@pytest.fixture(params=["revoked", "cookie gone"])
def end(request: pytest.FixtureRequest, uow: UnitOfWork, acme: Town, page: Page) -> End:
    """Return what ends the session of the owner."""

    def revoke() -> None:
        with uow.begin() as session:
            revoke_sessions(session, acme.ids["owner"], request.getfixturevalue("clock").now())

    return revoke if request.param == "revoked" else page.context.clear_cookies


@pytest.fixture
def rail(site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock, page: Page) -> str:
    """Return the address of an open step of a draft; the owner is signed in."""
    with uow.begin() as session:
        raw = making.document(making.delay("wait"))
        saved = service.create(session, acme.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
    site.sign_in(page, acme.people["owner"])
    address = f"{site.address}/automations/{saved.public_id}?step=wait"
    page.goto(address)
    return address


def _sign_in(page: Page, email: str) -> None:
    page.fill("#email", email)
    page.fill("#password", PASSWORD)
    page.click("main button[type=submit]")


def test_a_sentence_asked_for_too_late_leaves_the_page_and_its_text(
    page: Page, page_errors: PageErrors, acme: Town, rail: str, end: End
) -> None:
    end()
    page.get_by_label("How long").fill("77")
    expect(page.locator("#said")).to_contain_text("Your session has ended")
    assert page.url == rail
    expect(page.get_by_label("How long")).to_have_value("77")
    page.get_by_label("How long").fill("78")  # and goes on typing
    page.get_by_role("link", name="Sign in again").click()
    _sign_in(page, acme.people["owner"])
    expect(page).to_have_url(rail)
    expect(page.locator("#said")).to_contain_text(KEPT)
    expect(page.get_by_label("How long")).to_have_value("78")
    page.locator("#rail form[data-guard] button[type=submit]").first.click()
    expect(page.get_by_role("link", name="Wait 78 days").first).to_be_visible()
    # Once saved it is no more than what is stored.
    page.goto(rail)
    expect(page.get_by_label("How long")).to_have_value("78")
    expect(page.locator("#said")).not_to_contain_text(KEPT)
    page_errors.found[:] = [each for each in page_errors.found if "401" not in each]
    assert page_errors.found == []


def test_a_step_saved_too_late_is_typed_still_after_signing_in(
    page: Page, acme: Town, rail: str, end: End
) -> None:
    with page.expect_response("**/sentence*"):
        page.get_by_label("How long").fill("77")
    page.get_by_label("Unit").select_option("hours")
    end()
    page.locator("#rail form[data-guard] button[type=submit]").first.click()
    _sign_in(page, acme.people["owner"])
    expect(page).to_have_url(rail)
    expect(page.locator("#said")).to_contain_text(KEPT)
    expect(page.get_by_label("How long")).to_have_value("77")
    expect(page.get_by_label("Unit")).to_have_value("hours")


def test_a_template_saved_too_late_is_typed_still_after_signing_in(
    page: Page, site: Site, uow: UnitOfWork, acme: Town, end: End
) -> None:
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/templates/new")
    page.get_by_label("Name", exact=True).fill("Greeting")
    page.get_by_label("Subject").fill("Hello")
    page.get_by_label("MJML").check()
    page.get_by_label("Text of the mail").fill("<mjml>\n<mj-body></mj-body></mjml>")
    end()
    page.get_by_role("button", name="Save template").click()
    _sign_in(page, acme.people["owner"])
    expect(page).to_have_url(f"{site.address}/templates/new")
    expect(page.locator("#said")).to_contain_text(KEPT)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Greeting")
    expect(page.get_by_label("MJML")).to_be_checked()
    page.get_by_role("button", name="Save template").click()
    expect(page.get_by_role("heading", name="Greeting", level=1)).to_be_visible()
    with uow.read() as session:
        assert session.scalar(select(func.count()).select_from(Template)) == 1


def test_what_one_person_typed_is_not_put_before_another(
    page: Page, acme: Town, rail: str, end: End
) -> None:
    end()
    page.get_by_label("How long").fill("77")
    page.get_by_role("link", name="Sign in again").click()
    _sign_in(page, acme.people["admin"])
    expect(page).to_have_url(rail)
    # The page has decided once it is whole.
    page.wait_for_function("sessionStorage.getItem('stellwerk-kept') === null")
    expect(page.get_by_label("How long")).to_have_value("1")
