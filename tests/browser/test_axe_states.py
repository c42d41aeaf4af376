"""axe finds nothing on what opens over a page, nor on forms that came back with mistakes.

Each state is looked at in both themes: the second look asks for contrasts alone, since a theme
changes nothing else.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from engine.automations import service
from engine.core.clock import FixedClock
from engine.house import House
from tests.browser.conftest import Site
from tests.factories import accounts, audience, delivery, scenes, secrets
from tests.factories import automations as making
from tests.factories.scenes import Scene
from tests.web.support import Town

CONTRAST: Final = {"runOnly": ["color-contrast"]}
# Every dialog of a page is opened by one of these.
OPENERS: Final = "a[data-dialog]"
# Forms by the page they stand on: what is typed, and the button that sends it.
FORMS: Final[Sequence[tuple[str, dict[str, str], str]]] = (
    ("/automations/new", {}, "Create draft"),
    ("/automations/import", {"text": "no automation"}, "Show what it is"),
    ("/templates/new", {}, "Save template"),
    ("/secrets", {}, "Store secret"),
    ("/api-keys", {}, "Create key"),
    ("/suppressions", {"email": "nobody"}, "Block address"),
    ("/workspace", {"retention_days": "1"}, "Save settings"),
    ("/people/{person}/events", {"event_properties": "{"}, "Fire for this person"),
)


@pytest.fixture
def scene(house: House, clock: FixedClock, acme: Town) -> Scene:
    """Return a full workspace in which everything that can be confirmed stands on some page."""
    made = scenes.full(house, clock, acme.workspace_id)
    with house.runtime.uow.begin() as session:
        accounts.api_key(session, acme.workspace_id)
        secrets.secret(session, acme.workspace_id)
        audience.suppression(session, acme.workspace_id)
        delivery.template(session, acme.workspace_id, name="Used by nobody")
        ready = making.document(making.delay("wait"), name="Ready to go")
        saved = service.create(session, acme.workspace_id, ready, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
        made.automations["ready"] = saved.public_id
    return made


@pytest.fixture
def owner(browser: Browser, site: Site, acme: Town, scene: Scene) -> Iterator[Page]:
    """Return a tab of the owner."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-GB", reduced_motion="reduce"
    )
    page = context.new_page()
    site.sign_in(page, acme.people["owner"])
    yield page
    context.close()


def obstacles(page: Page) -> list[str]:
    """Return what axe finds in the light, and what is hard to read in the dark."""
    found: list[dict[str, Any]] = []
    for scheme, options in (("light", None), ("dark", CONTRAST)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found += Axe().run(page, options=options).response["violations"]
    return [f"{each['id']}: {[node['html'] for node in each['nodes']][:3]}" for each in found]


@pytest.mark.timeout(300)
def test_no_dialog_has_an_obstacle(
    browser: Browser, site: Site, acme: Town, scene: Scene, owner: Page
) -> None:
    pages = [f"/automations/{each}" for each in scene.automations.values()]
    pages += [f"/runs/{each}" for each in scene.runs.values()]
    pages += ["/api-keys", "/suppressions", "/templates", "/secrets"]
    found: dict[str, list[str]] = {}
    for address in pages:
        _open_each(owner, f"{site.address}{address}", found)
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")
    editor = context.new_page()
    site.sign_in(editor, acme.people["editor"])
    _open_each(editor, f"{site.address}/automations/{scene.automations['ready']}", found)
    context.close()
    assert {where: what for where, what in found.items() if what} == {}
    assert {"request", "activate", "pause", "resume", "stop", "duplicate", "delete"} <= found.keys()
    assert {"skip", "move", "cancel", "retry", "dismiss", "revoke", "release"} <= found.keys()


def _open_each(page: Page, address: str, found: dict[str, list[str]]) -> None:
    """Open the dialogs of a page that have not been looked at yet."""
    page.goto(address)
    for opener in page.locator(OPENERS).all():
        name = str(opener.get_attribute("data-dialog"))
        kind = name.partition("-")[2].partition("-")[0]
        if kind in found:
            continue
        page.evaluate("id => document.getElementById(id).showModal()", name)
        expect(page.locator(f"#{name}")).to_be_visible()
        found[kind] = obstacles(page)
        page.keyboard.press("Escape")


@pytest.mark.timeout(300)
def test_no_form_with_mistakes_has_an_obstacle(site: Site, scene: Scene, owner: Page) -> None:
    found: dict[str, list[str]] = {}
    for path, typed, button in FORMS:
        address = path.format(person=scene.people["first"])
        owner.goto(f"{site.address}{address}")
        form = owner.locator("main form").filter(has=owner.get_by_role("button", name=button))
        for name, text in typed.items():
            form.locator(f"[name={name}]").fill(text)
        form.evaluate("form => { form.noValidate = true; }")
        form.get_by_role("button", name=button).click()
        expect(owner.locator("main [role=alert], main .invalid-feedback").first).to_be_visible()
        found[path] = obstacles(owner)
    assert {where: what for where, what in found.items() if what} == {}
