"""What page tests may ask for; the helpers themselves live in tests/web/support.py."""

import pytest
from flask import Flask

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import scenes
from tests.factories.scenes import Scene
from tests.web.support import Reader, Town, settle
from web.factory import make_app


@pytest.fixture
def app(house: House) -> Flask:
    """Return the console on the started engine; its clock stands still."""
    return make_app(house.runtime)


@pytest.fixture
def acme(uow: UnitOfWork) -> Town:
    """Return a workspace with one person of each role."""
    return settle(uow, "Acme")


@pytest.fixture
def other(uow: UnitOfWork) -> Town:
    """Return a second workspace, whose people have no business in the first."""
    return settle(uow, "Globex")


@pytest.fixture
def stranger(app: Flask) -> Reader:
    """Return a browser in which nobody is signed in."""
    return Reader(app)


@pytest.fixture
def owner(app: Flask, acme: Town) -> Reader:
    """Return a browser in which the owner of `acme` is signed in."""
    reader = Reader(app)
    assert reader.sign_in(acme.people["owner"]).status_code == 303
    return reader


@pytest.fixture
def scene(house: House, clock: FixedClock, acme: Town) -> Scene:
    """Return what stands in `acme` after a busy week; see tests/factories/scenes.py."""
    return scenes.full(house, clock, acme.workspace_id)
