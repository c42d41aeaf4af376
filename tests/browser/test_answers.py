"""An answer that is slow, or an error: the form stays, and one press is one request."""

from functools import wraps
from threading import Event
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.factories import automations as making
from tests.web.support import Town

CONFIGURE = "automations.configure"


@pytest.fixture
def rail(site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock, page: Page) -> Page:
    """Return a page with the form of a wait open, and something typed in it."""
    with uow.begin() as session:
        raw = making.document(making.delay("wait", 3))
        saved = service.create(session, acme.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/automations/{saved.public_id}?step=wait")
    page.get_by_label("How long").fill("77")
    return page


class Held:
    """A view that keeps its answers until `go` is set; `arrived` says that somebody asked."""

    def __init__(self, app: Flask, endpoint: str) -> None:
        self.go, self.arrived, self.asked = Event(), Event(), 0
        view = app.view_functions[endpoint]

        @wraps(view)
        def slow(**arguments: str) -> Any:
            self.asked += 1
            self.arrived.set()
            assert self.go.wait(20)
            return view(**arguments)

        app.view_functions[endpoint] = slow


def test_a_broken_answer_names_its_reference_and_leaves_form_and_plan(
    rail: Page, site: Site
) -> None:
    @wraps(site.app.view_functions[CONFIGURE])
    def breaks(**_arguments: str) -> Any:
        raise ZeroDivisionError("planted")

    site.app.view_functions[CONFIGURE] = breaks
    with rail.expect_response("**/steps/wait") as answer:
        rail.get_by_role("button", name="Save in the draft").click()
    assert answer.value.status == 500
    said = rail.locator("#said")
    expect(said).to_contain_text("That did not work, and nothing was changed.")
    expect(said).to_contain_text(answer.value.headers["x-request-id"])
    expect(said).to_have_attribute("role", "status")
    expect(rail.get_by_label("How long")).to_have_value("77")
    expect(rail.locator(".plan .station")).to_have_count(3)
    for word in ("Traceback", "ZeroDivisionError", "planted"):
        assert word not in rail.content()
    # The button works again.
    expect(rail.get_by_role("button", name="Save in the draft")).not_to_have_attribute(
        "aria-busy", "true"
    )


def test_while_an_answer_is_awaited_the_button_is_busy_keeps_its_words_and_sends_once(
    rail: Page, site: Site
) -> None:
    held = Held(site.app, CONFIGURE)
    button = rail.get_by_role("button", name="Save in the draft")
    button.click()
    expect(button).to_have_attribute("aria-busy", "true")
    expect(button).to_have_text("Save in the draft")
    button.click()
    rail.keyboard.press("Enter")
    held.go.set()
    expect(rail.locator("#said")).to_have_text("Saved in the draft.")
    expect(rail.locator("#at-wait h3")).to_have_text("Wait 77 days")
    assert held.asked == 1


def test_without_a_network_it_is_said_and_kept_and_sent_once_afterwards(
    rail: Page, site: Site
) -> None:
    held = Held(site.app, CONFIGURE)
    held.go.set()
    button = rail.get_by_role("button", name="Save in the draft")
    # Once the machine knows that it has no network, once it only finds out by trying.
    rail.context.set_offline(True)
    button.click()
    expect(rail.locator("#said")).to_contain_text("Not saved: the network is away. Try again.")
    rail.context.set_offline(False)
    rail.route("**/steps/wait", lambda route: route.abort("connectionfailed"))
    rail.locator("#said").evaluate("each => each.replaceChildren()")
    button.click()
    expect(rail.locator("#said")).to_contain_text("Not saved: the network is away. Try again.")
    expect(rail.get_by_label("How long")).to_have_value("77")
    assert held.asked == 0
    rail.unroute("**/steps/wait")
    button.click()
    expect(rail.locator("#at-wait h3")).to_have_text("Wait 77 days")
    assert held.asked == 1


# Playwright looks at nothing on a page that is about to be left; the page notes it itself.
NOTE = """() => document.addEventListener("submit", (event) => setTimeout(() => {
    const button = event.target.querySelector("button");
    sessionStorage.setItem("seen", button.getAttribute("aria-busy") + " " + button.textContent);
}))"""


def test_a_plain_form_is_busy_as_well_and_sends_once(site: Site, acme: Town, page: Page) -> None:
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/automations/new")
    sent: list[str] = []
    page.on(
        "request", lambda request: sent.append(request.url) if request.method == "POST" else None
    )
    page.get_by_label("Name").fill("Once")
    page.evaluate(NOTE)
    page.get_by_role("button", name="Create draft").dblclick()
    expect(page.get_by_role("heading", level=1)).to_have_text("Once")
    assert page.evaluate("sessionStorage.getItem('seen')") == "true Create draft"
    assert len(sent) == 1
    page.goto(f"{site.address}/automations")
    expect(page.get_by_role("link", name="Once", exact=True)).to_have_count(1)
