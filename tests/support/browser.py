"""Debian's Chromium, driven by Playwright (which brings no browser of its own here)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright

from tests.support import programs

FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class PageErrors:
    """What a page complained about: script errors, console errors, refused contents."""

    def __init__(self, context: BrowserContext) -> None:
        self.found: list[str] = []
        context.on("console", lambda message: self._console(message.type, message.text))
        context.on("weberror", lambda error: self.found.append(f"script: {error.error}"))
        context.on("dialog", self._dialog)

    def _dialog(self, dialog: Dialog) -> None:
        self.found.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, kind: str, text: str) -> None:
        if kind == "error":
            self.found.append(f"console: {text}")


# A browser for a module, not for the session: Playwright's loop occupies the main thread while it
# lives, and other tests run loops of their own there.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a running headless Chromium."""
    with chromium() as running:
        yield running


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a running headless Chromium."""
    path = programs.need("Chromium", ("chromium",))["chromium"]
    with sync_playwright() as playwright:
        # Debian's chromium is a shell script, which needs more programs than PATH may name.
        wide: dict[str, str | float | bool] = {**os.environ, "PATH": ":".join(programs.PLACES)}
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS), env=wide)
        yield running
        running.close()


@pytest.fixture
def browser_context(browser: Browser) -> Iterator[BrowserContext]:
    """Return a fresh browser profile: no cookies, 1280 × 800, 10 s patience."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def page_errors(browser_context: BrowserContext) -> PageErrors:
    """Return the list that gathers what pages of `browser_context` complain about."""
    return PageErrors(browser_context)


@pytest.fixture
def page(browser_context: BrowserContext, page_errors: PageErrors) -> Page:
    """Return an open tab; a test may assert `page_errors.found == []` at its end."""
    return browser_context.new_page()
