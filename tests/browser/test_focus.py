"""A focus that one sees, targets that one hits, and calm for whoever wants no motion."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from engine.core.clock import FixedClock
from engine.house import House
from tests.browser.conftest import Site
from tests.browser.pages import addresses
from tests.web.samples import furnish
from tests.web.support import Town

# Of what has the focus: whether something is drawn around it, and whether it is seen.
SEEN = """() => {
    const each = document.activeElement;
    if (!each || each === document.body) return null;
    const drawn = (node) => {
        const style = getComputedStyle(node);
        return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) ||
               style.boxShadow !== "none";
    };
    // The button within a field of dates is the browser's own, and so is what it draws around it.
    const inner = each.type === "date" && !each.matches(":focus-visible");
    const around = each.closest(".station, label, tr, li") || each;
    const box = each.getBoundingClientRect();
    const x = Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 1);
    const y = Math.min(Math.max(box.top + Math.min(box.height / 2, 12), 1), innerHeight - 1);
    const top = document.elementFromPoint(x, y);
    const free = box.bottom > 0 && box.top < innerHeight && !!top &&
                 (each.contains(top) || top.contains(each) || around.contains(top));
    const shown = inner || drawn(each) || drawn(around);
    return {what: each.outerHTML.slice(0, 120), drawn: shown, free: free};
}"""
MOVING = """() => [...document.querySelectorAll('*')].filter((each) => {
    const style = getComputedStyle(each);
    const long = (value) => value.split(',').some((part) => parseFloat(part) > 0.011);
    return (style.animationName !== 'none' && long(style.animationDuration)) ||
           (style.transitionProperty !== 'none' && long(style.transitionDuration)) ||
           style.scrollBehavior === 'smooth';
}).map((each) => each.outerHTML.slice(0, 100))"""

# The rule of WCAG 2.5.8, its exceptions included; axe leaves it out unless it is asked for.
TARGETS = {"runOnly": {"type": "rule", "values": ["target-size"]}}


@pytest.fixture
def everywhere(site: Site, house: House, clock: FixedClock, acme: Town) -> list[str]:
    """Return the addresses of all pages of a full workspace."""
    return addresses(site.app, furnish(house, clock, acme.workspace_id))


@pytest.mark.timeout(240)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whoever_tabs_through_a_page_sees_where_the_focus_is(
    browser: Browser, site: Site, acme: Town, everywhere: list[str], scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    hidden, seen = {}, 0
    editor = next(each for each in everywhere if each.endswith("?ask=pause"))
    plan = editor.partition("?")[0]
    for address in (f"{plan}?step=wait", editor, "/runs", "/templates", "/settings"):
        page.goto(site.address + address)
        for _press in range(45):
            page.keyboard.press("Tab")
            found = page.evaluate(SEEN)
            if found is None:
                continue
            seen += 1
            if not (found["drawn"] and found["free"]):
                hidden[address, found["what"]] = found
    context.close()
    assert seen > 100
    assert hidden == {}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("width", [320, 1280])
def test_what_one_presses_is_large_enough(
    browser: Browser, site: Site, acme: Town, everywhere: list[str], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    page, axe = context.new_page(), Axe()
    site.sign_in(page, acme.people["owner"])
    small = {}
    for address in everywhere:
        page.goto(site.address + address)
        found = axe.run(page, options=TARGETS).response["violations"]
        small[address] = [node["html"] for each in found for node in each["nodes"]]
    context.close()
    assert len(small) > 20
    assert {address: what for address, what in small.items() if what} == {}


@pytest.mark.timeout(240)
def test_who_wants_no_motion_gets_none(
    browser: Browser, site: Site, acme: Town, everywhere: list[str]
) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    moving = {}
    for address in everywhere:
        page.goto(site.address + address)
        moving[address] = page.evaluate(MOVING)
    context.close()
    assert len(moving) > 20
    assert {address: what for address, what in moving.items() if what} == {}


def test_a_small_target_is_found(page: Page) -> None:
    page.set_content("<button style='width: 12px; height: 12px; padding: 0'>+</button>" * 3)
    assert Axe().run(page, options=TARGETS).response["violations"]


def test_motion_is_found_where_there_is_some(page: Page) -> None:
    page.set_content("<p style='transition: color 1s'>moves</p>")
    assert len(page.evaluate(MOVING)) == 1
