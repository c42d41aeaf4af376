"""Entry of `make sheet`: photographs every page into build/sheet, to be looked at side by side.

A furnished workspace and an empty one, on a wide screen and on a phone, light and dark, in English
and in German. Answers 1 when a page is broken or wider than its screen.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page
from pydantic import SecretStr

import engine.house
from engine.core import clock as engine_clock
from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.house import House
from tests.browser.conftest import Site, served
from tests.browser.pages import addresses
from tests.sheet.report import Look, Shot, write
from tests.support.browser import chromium
from tests.support.database import migrate
from tests.support.house import START
from tests.web.samples import furnish
from tests.web.support import Town, settle

FOLDER: Final = Path("build/sheet")
LOOKS: Final = (
    Look("wide", 1280, "light", "en"),
    Look("phone", 400, "dark", "de"),
    Look("wide-dark", 1280, "dark", "de"),
    Look("phone-light", 400, "light", "en"),
)
# What stands open over or beside a plan.
_OPEN: Final = ("?ask=stop", "?step=_start", "?step=_settings", "?step=hello", "?step=done")
_HEIGHT: Final = 800


def main() -> int:
    """Photograph everything and write the sheet; say what is broken."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    shots: list[Shot] = []
    with _house() as (house, clock), served(house) as site, chromium() as browser:
        full, empty = settle(house.runtime.uow, "Acme"), settle(house.runtime.uow, "Nothing yet")
        made = furnish(house, clock, full.workspace_id)
        # Of these the samples name only what leads nowhere.
        ids = {**made, "help": {"topic": "pausing"}, "links": {}}
        plan = f"/automations/{ids['automations']['public_id']}"
        pages = [*addresses(site.app, ids), *(plan + query for query in _OPEN), "/nothing/here"]
        # The rarer looks show what is full; what is empty has little to go wrong.
        for look in LOOKS:
            shots += _photograph(browser, site, look, full, "full", pages)
        for look in LOOKS[:2]:
            shots += _photograph(browser, site, look, empty, "empty", addresses(site.app, {}))
    write(FOLDER, shots)
    broken = [shot for shot in shots if shot.fault]
    for shot in broken:
        print(f"{shot.look.name} {shot.state} {shot.address}: {shot.fault}", file=sys.stderr)
    print(f"{len(shots)} pictures of pages: {FOLDER / 'index.html'}")
    return int(bool(broken))


@contextmanager
def _house() -> Iterator[tuple[House, FixedClock]]:
    with tempfile.TemporaryDirectory(prefix="stellwerk-sheet-") as folder:
        url = f"sqlite:///{folder}/stellwerk.db"
        migrate(url)
        settings = Settings(
            home=Path(folder),
            database_url=SecretStr(url),
            secret_key=SecretStr("a secret for pictures, 32 characters"),
            testing=True,
        )
        house = engine.house.start(settings, lambda _effects: None)
        clock = FixedClock(START)
        engine_clock.install(clock)
        try:
            yield house, clock
        finally:
            house.close()


def _photograph(
    browser: Browser, site: Site, look: Look, town: Town, state: str, pages: Sequence[str]
) -> list[Shot]:
    context = browser.new_context(
        viewport={"width": look.width, "height": _HEIGHT},
        color_scheme=look.scheme,
        locale=look.language,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(f"{site.address}/")
    shots = [_shot(page, site, look, state, "/", 0)]
    site.sign_in(page, town.people["owner"])
    for number, address in enumerate(pages, start=1):
        shots.append(_shot(page, site, look, state, address, number))
    context.close()
    return shots


def _shot(page: Page, site: Site, look: Look, state: str, address: str, number: int) -> Shot:
    answer = page.goto(site.address + address)
    file = f"{look.name}-{state}-{number:02}.png"
    page.screenshot(path=FOLDER / file, full_page=True)
    status = answer.status if answer else 0
    return Shot(look, state, address, file, status, _fault(page, status, address))


def _fault(page: Page, status: int, address: str) -> str | None:
    if status >= 400 and not (status == 404 and address == "/nothing/here"):
        return f"answers {status}"
    widths: Mapping[str, int] = page.evaluate(
        "() => ({page: document.documentElement.scrollWidth, screen: window.innerWidth})"
    )
    over = widths["page"] - widths["screen"]
    return f"is {over} px wider than the screen" if over > 0 else None


if __name__ == "__main__":
    sys.exit(main())
