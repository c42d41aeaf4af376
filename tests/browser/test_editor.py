"""The editor in a browser: by keyboard, without script, on a narrow screen, and what it asks."""

import re
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.browser.conftest import Site
from tests.factories import audience as people
from tests.factories import automations as making
from tests.support.browser import PageErrors
from tests.web.support import Town


@pytest.fixture
def draft(site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock) -> str:
    """Return the address of a draft: a wait, a branch, another wait."""
    with uow.begin() as session:
        people.custom_property(session, acme.workspace_id, "seats", "number")
        people.custom_property(session, acme.workspace_id, "vip", "boolean")
        raw = making.document(
            making.delay("first", 3), making.branch("fork", yes="last"), making.delay("last", 4)
        )
        saved = service.create(session, acme.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
        return f"{site.address}/automations/{saved.public_id}"


@pytest.fixture
def at_work(site: Site, acme: Town, page: Page, draft: str) -> Page:
    """Return the page of the draft, opened by the owner."""
    site.sign_in(page, acme.people["owner"])
    page.goto(draft)
    return page


def _titles(page: Page) -> list[str]:
    return page.locator(".plan .station h3").all_inner_texts()


def test_a_step_is_inserted_filled_in_moved_and_undone_by_keyboard_alone(
    at_work: Page, page_errors: PageErrors
) -> None:
    page = at_work
    page.get_by_role("link", name="Insert a step behind “Wait 3 days”").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Insert a step")).to_be_focused()
    while page.evaluate("document.activeElement.value") != "delay":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Wait without a length").nth(1)).to_be_focused()
    expect(page).to_have_url(re.compile(r"\?step=delay-1$"))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Saved in the draft.")
    assert _titles(page)[1:3] == ["Wait 3 days", "Wait 2 days"]
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#said")).to_have_text("Step moved up.")
    assert _titles(page)[1:3] == ["Wait 2 days", "Wait 3 days"]
    page.keyboard.press("Control+z")
    expect(page.locator("#said")).to_have_text("Undone.")
    assert _titles(page)[1:3] == ["Wait 3 days", "Wait 2 days"]
    page.keyboard.press("Control+y")
    expect(page.locator("#said")).to_have_text("Done again.")
    assert _titles(page)[1:3] == ["Wait 2 days", "Wait 3 days"]
    assert page_errors.found == []


def test_another_step_opens_without_a_reload_and_the_plan_marks_it(
    at_work: Page, page_errors: PageErrors
) -> None:
    page = at_work
    page.evaluate("window.stayed = true")
    page.get_by_role("link", name="Wait 4 days", exact=True).click()
    expect(page.locator("#rail-title")).to_be_focused()
    expect(page.locator(".station[aria-current=step]")).to_have_id("at-last")
    expect(page.locator("header a[hreflang=de]").last).to_have_attribute(
        "href", re.compile(r"\?step=last&lang=de$")
    )
    page.get_by_role("link", name="Close").click()
    expect(page.locator("#rail-title")).to_have_count(0)
    expect(page.locator(".station[aria-current=step]")).to_have_count(0)
    page.go_back()
    expect(page.locator("#rail-title")).to_have_text("Wait 4 days")
    assert page_errors.found == []


def test_leaving_a_changed_form_asks_and_stay_discard_and_save_do_what_they_say(
    at_work: Page, draft: str, page_errors: PageErrors
) -> None:
    page = at_work
    question = page.get_by_role("dialog", name="Save what you changed?")
    page.goto(f"{draft}?step=first")
    page.get_by_label("How long").fill("5")
    page.get_by_role("link", name="Wait 4 days", exact=True).click()
    expect(question).to_be_visible()
    question.get_by_role("button", name="Stay").click()
    expect(question).to_be_hidden()
    expect(page.get_by_label("How long")).to_have_value("5")
    page.get_by_role("link", name="Wait 4 days", exact=True).click()
    question.get_by_role("button", name="Discard").click()
    expect(page.locator("#rail-title")).to_have_text("Wait 4 days")
    expect(page.locator("#at-first h3")).to_have_text("Wait 3 days")
    page.get_by_label("How long").fill("6")
    page.get_by_role("link", name="Wait 3 days", exact=True).click()
    question.get_by_role("button", name="Save").click()
    expect(page.locator("#rail-title")).to_have_text("Wait 3 days")
    expect(page.locator("#at-last h3")).to_have_text("Wait 6 days")
    assert page_errors.found == []


def test_a_wrong_value_takes_the_focus_and_is_kept(at_work: Page, draft: str) -> None:
    page = at_work
    page.goto(f"{draft}?step=first")
    page.get_by_label("How long").fill("many")
    page.get_by_role("button", name="Save in the draft").click()
    expect(page.get_by_label("How long")).to_be_focused()
    expect(page.get_by_label("How long")).to_have_value("many")
    expect(page.locator("#mistakes")).to_be_visible()
    expect(page.locator(".plan .station")).to_have_count(5)


def test_a_conflict_and_a_step_that_is_gone_are_shown_in_the_rail(
    at_work: Page, draft: str, site: Site, acme: Town, browser: Browser
) -> None:
    page = at_work
    page.goto(f"{draft}?step=first")
    other = browser.new_context(locale="en-GB").new_page()
    site.sign_in(other, acme.people["editor"])
    other.goto(f"{draft}?step=last")
    other.get_by_label("How long").fill("9")
    other.get_by_role("button", name="Save in the draft").click()
    expect(other.locator("#said")).to_have_text("Saved in the draft.")
    page.get_by_label("How long").fill("5")
    page.get_by_role("button", name="Save in the draft").click()
    expect(page.locator("#rail-title")).to_have_text("Somebody else changed this draft")
    page.get_by_role("button", name="Put mine over it").click()
    expect(page.locator("#at-first h3")).to_have_text("Wait 5 days")
    expect(page.locator("#at-last h3")).to_have_text("Wait 9 days")
    other.goto(f"{draft}?step=first")
    other.get_by_role("button", name="Delete").click()
    expect(other.locator("#at-first")).to_have_count(0)
    page.get_by_label("How long").fill("7")
    page.get_by_role("button", name="Save in the draft").click()
    expect(page.locator("#rail-title")).to_have_text("This step is no longer in the draft")
    page.get_by_role("button", name="Insert it again here").click()
    expect(page.locator("#at-delay-1 h3")).to_have_text("Wait 7 days")
    other.context.close()


def test_operators_follow_the_type_of_the_property_and_the_count_follows_the_rule(
    at_work: Page, draft: str, page_errors: PageErrors
) -> None:
    page = at_work
    page.goto(f"{draft}?step=fork")
    expect(page.locator("#matches")).to_contain_text("0 of 0 people match now.")
    page.get_by_label("Property", exact=True).nth(1).select_option("vip")
    offered = page.locator("#contact_property-operator option:not([disabled])")
    assert set(offered.all_inner_texts()) >= {"is true", "is false", "has a value"}
    assert "is greater than" not in offered.all_inner_texts()
    page.get_by_role("radio", name="Topic").check()
    expect(page.locator("#contact_property-field")).to_be_hidden()
    expect(page.locator("#topic_membership-topic_id")).to_be_visible()
    expect(page.locator("#matches")).to_contain_text("Choose a rule")
    assert page_errors.found == []


def test_a_plan_is_made_from_nothing_without_script(
    browser: Browser, site: Site, acme: Town
) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en-GB")
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    page.get_by_role("link", name="Automations").first.click()
    page.get_by_role("link", name="New automation").first.click()
    page.get_by_label("Name").fill("By hand")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_label("Name of the event").fill("signed_up")
    page.get_by_role("button", name="Save in the draft").click()
    page.get_by_role("link", name="Insert a step behind").click()
    page.get_by_role("button", name="Wait", exact=True).click()
    page.get_by_label("How long").fill("2")
    page.get_by_role("button", name="Save in the draft").click()
    page.get_by_role("link", name="Insert a step behind “Wait 2 days”").click()
    page.get_by_role("button", name="Branch").click()
    page.get_by_label("Property", exact=True).nth(1).select_option("first_name")
    page.get_by_label("Value").fill("Ada")
    page.get_by_label("Yes leads to").select_option("end")
    page.get_by_role("button", name="Save in the draft").click()
    page.get_by_role("button", name="Duplicate").click()
    page.get_by_role("button", name="Undo").click()
    assert _titles(page) == [
        "The event “signed_up” arrives",
        "Wait 2 days",
        "first_name is “Ada”?",
        "End",
    ]
    page.get_by_role("link", name="Check").click()
    expect(page.get_by_role("heading", name="Check of “By hand”")).to_be_visible()
    context.close()


@pytest.mark.parametrize("width", [1280, 400])
def test_a_long_plan_with_a_hostile_name_never_scrolls_sideways(
    browser: Browser, site: Site, uow: UnitOfWork, acme: Town, clock: FixedClock, width: int
) -> None:
    name = "<script>alert(1)</script> \u202eabc 🚂 " + "Long" * 40
    steps = [making.delay(f"wait{number}", number + 1) for number in range(20)]
    with uow.begin() as session:
        raw = making.document(*steps, name=name[:200])
        saved = service.create(session, acme.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
    context = browser.new_context(viewport={"width": width, "height": 800}, locale="en-GB")
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/automations/{saved.public_id}?step=wait15")
    assert _titles(page)[1:21] == ["Wait 1 day", *(f"Wait {days} days" for days in range(2, 21))]
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    small = page.evaluate(
        "[...document.querySelectorAll('.inserts a, .rail button, .tools button')].filter("
        "e => e.offsetHeight && (e.offsetHeight < 22 || e.offsetWidth < 22)).map(e => e.outerHTML)"
    )
    assert small == []
    context.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_state_of_the_rail_has_an_obstacle(
    browser: Browser, site: Site, acme: Town, draft: str, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page, axe, found = context.new_page(), Axe(), {}
    site.sign_in(page, acme.people["owner"])
    rails = ("", "?step=first", "?step=fork", "?step=_start", "?step=_settings", "?add=first.")
    for query in (*rails, "/steps/last/delete", "/check", "?view=live"):
        page.goto(f"{draft}{query}")
        found[query] = axe.run(page).response["violations"]
    page.goto(f"{draft}?step=first")
    page.get_by_label("How long").fill("many")
    page.get_by_role("button", name="Save in the draft").click()
    expect(page.locator("#mistakes")).to_be_visible()
    found["wrong"] = axe.run(page).response["violations"]
    page.get_by_role("link", name="Wait 4 days", exact=True).click()
    expect(page.locator("#unsaved")).to_be_visible()
    found["question"] = axe.run(page).response["violations"]
    context.close()
    assert {
        where: [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in what]
        for where, what in found.items()
        if what
    } == {}


def test_the_focus_stays_on_what_was_pressed_and_goes_back_when_the_rail_is_closed(
    at_work: Page, page_errors: PageErrors
) -> None:
    page = at_work
    for opener in (
        "Wait 3 days",
        "Insert a step behind “Wait 3 days”",
        "Settings of this automation",
    ):
        page.get_by_role("link", name=opener, exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.locator("#rail-title")).to_be_focused()
        page.get_by_role("link", name="Close").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name=opener, exact=True)).to_be_focused()
    page.get_by_role("link", name="Wait 3 days", exact=True).click()
    page.get_by_role("button", name="Down").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Step moved down.")
    expect(page.get_by_role("button", name="Down")).to_be_focused()
    page.get_by_role("link", name="Close").click()
    expect(page.get_by_role("link", name="Wait 3 days", exact=True)).to_be_focused()
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Undone.")
    expect(page.get_by_role("button", name="Redo")).to_be_focused()
    assert page_errors.found == []
