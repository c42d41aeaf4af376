"""What browser tests may ask for: the console on an address of its own, with people to sign in."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from flask import Flask
from playwright.sync_api import Page
from werkzeug.serving import WSGIRequestHandler, make_server

from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories.accounts import PASSWORD
from tests.web.support import Town, settle
from web.factory import make_app


class Quiet(WSGIRequestHandler):
    """Answers without a line of log for each request."""

    def log(self, type: str, message: str, *args: object) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Site:
    """A console that answers at `address`; its clock stands still."""

    app: Flask
    address: str

    def sign_in(self, page: Page, email: str) -> None:
        """Sign in by the form and wait for the first page."""
        page.goto(f"{self.address}/")
        page.fill("#email", email)
        page.fill("#password", PASSWORD)
        page.click("main button[type=submit]")
        page.wait_for_selector("nav.side, details.menu", state="attached")


@pytest.fixture
def site(house: House) -> Iterator[Site]:
    """Return the console, served from a thread."""
    with served(house) as site:
        yield site


@contextmanager
def served(house: House) -> Iterator[Site]:
    """Yield the console of a started engine, served from a thread."""
    app = make_app(house.runtime)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Site(app, f"http://127.0.0.1:{server.port}")
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.fixture
def acme(uow: UnitOfWork) -> Town:
    """Return a workspace with one person of each role."""
    return settle(uow, "Acme")
