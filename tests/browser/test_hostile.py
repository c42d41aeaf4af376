"""What people type is shown as they typed it and does nothing else (SEC-01); it fits any screen."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page

from engine.core.clock import FixedClock
from engine.house import House
from tests.browser.conftest import Site
from tests.browser.pages import addresses
from tests.factories import scenes
from tests.factories.scenes import Scene, Words
from tests.support.browser import PageErrors
from tests.web.support import Town

SCRIPT = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'-alert(3)-'"
SMUGGLED = "javascript:alert(4) {{7*7}} ${7*7} \u202edesrever\u202c \U0001f642 </title></textarea>"
LONG = "Donaudampfschifffahrtsgesellschaft" * 5 + "x" * 30
# A mail may ask for a picture from elsewhere; its frame's policy refuses, and the browser says so.
EXPECTED = "tracker.example"
REFLECTED = ("/people/find", "/people", "/runs", "/sends", "/audit", "/automations")
PARAMETERS = ("q", "error", "step", "automation", "status", "since", "action", "actor", "cursor")


def _typed(house: House, clock: FixedClock, town: Town, text: str) -> Scene:
    """Return a workspace in which every free text is `text`, cut where a field is shorter."""
    words = Words(
        automation=text,
        description=text,
        event=text[:100],
        template=text,
        subject=text.replace("{{", "{ {"),
        topic=text,
        value=text,
        first_name=text,
        last_name=text,
        sender=text,
    )
    return scenes.full(house, clock, town.workspace_id, words)


def _pages(site: Site, scene: Scene) -> list[str]:
    ids = {
        "automations": {"public_id": scene.automations["active"], "key": "wait"},
        "people": {"public_id": scene.people["first"]},
        "runs": {"public_id": scene.runs["at again"]},
        "sends": {"public_id": scene.sends["last"]},
    }
    return [*addresses(site.app, ids), f"/sends/{scene.sends['last']}/body"]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("text", [SCRIPT, SMUGGLED], ids=["script", "smuggled"])
def test_a_hostile_text_stays_a_text_on_every_page(
    house: House,
    clock: FixedClock,
    site: Site,
    acme: Town,
    page: Page,
    page_errors: PageErrors,
    text: str,
) -> None:
    scene = _typed(house, clock, acme, text)
    site.sign_in(page, acme.people["owner"])
    query = urlencode(dict.fromkeys(PARAMETERS, text))
    for address in [*_pages(site, scene), *(f"{path}?{query}" for path in REFLECTED)]:
        answer = page.goto(site.address + address)
        assert answer is not None
        assert answer.status < 400, address
        _check_policy(address, answer.headers["content-security-policy"])
    assert [found for found in page_errors.found if EXPECTED not in found] == []
    page.goto(f"{site.address}/automations/{scene.automations['active']}")
    assert page.text_content("h1") == text
    assert text in (page.text_content(".plan") or "")


def _check_policy(address: str, policy: str) -> None:
    rules = dict(rule.split(" ", 1) for rule in policy.split("; ") if " " in rule)
    script = rules.get("script-src", rules["default-src"])
    assert "unsafe" not in script, address
    assert "*" not in policy, address
    if not address.endswith("/body"):
        assert "unsafe-inline" not in policy, address


@pytest.mark.timeout(240)
def test_a_mail_cannot_reach_the_console_around_it(
    house: House, clock: FixedClock, site: Site, acme: Town, page: Page, page_errors: PageErrors
) -> None:
    scene = scenes.full(house, clock, acme.workspace_id)
    answered: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    site.sign_in(page, acme.people["owner"])
    page.goto(f"{site.address}/sends/{scene.sends['last']}")
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").text_content() == "Hello Kim"
    assert page.frames[1].evaluate("window.origin") == "null"
    assert {url for url in answered if not url.startswith(site.address)} == set()
    assert any(EXPECTED in found for found in page_errors.found)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("width", [320, 1280])
def test_no_page_scrolls_sideways_whatever_people_type(
    browser: Browser, house: House, clock: FixedClock, site: Site, acme: Town, width: int
) -> None:
    scene = _typed(house, clock, acme, LONG)
    context = browser.new_context(viewport={"width": width, "height": 700})
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    over = {}
    for address in _pages(site, scene)[:-1]:
        page.goto(site.address + address)
        over[address] = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
    context.close()
    assert len(over) > 10
    assert {address: pixels for address, pixels in over.items() if pixels > 0} == {}
