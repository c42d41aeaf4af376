"""What page tests may ask for; the helpers themselves live in tests/web/support.py."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories.scenes import Scene
from tests.support.leg_plugin import Leg
from tests.support.servers import Postgres
from tests.web.furnished import Furnished, furnish
from tests.web.support import Reader, Town, settle
from web.factory import make_app


@pytest.fixture
def app(house: House) -> Flask:
    """Return the console on the started engine; its clock stands still."""
    return make_app(house.runtime)


@pytest.fixture(scope="session")
def furnished(
    leg: Leg, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Furnished:
    """Return a full workspace in a database that nobody has open."""
    home = tmp_path_factory.mktemp("furnished")
    if leg == "sqlite":
        path = home / "stellwerk.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        return furnish(str(path), f"sqlite:///{path}", home)
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create(request.getfixturevalue("postgres_template"))
    made = furnish(name, server.url(name), home)
    server.freeze(name)
    return made


@pytest.fixture
def database_url(
    leg: Leg, request: pytest.FixtureRequest, tmp_path: Path, database_url: str
) -> Iterator[str]:
    """Return the address of a database of this test alone: a full one where it asks for `scene`."""
    if "scene" not in request.fixturenames:
        yield database_url
        return
    made: Furnished = request.getfixturevalue("furnished")
    if leg == "sqlite":
        shutil.copyfile(made.place, tmp_path / "furnished.db")
        yield f"sqlite:///{tmp_path / 'furnished.db'}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create(made.place)
    yield server.url(name)
    server.drop(name)


@pytest.fixture
def acme(request: pytest.FixtureRequest, uow: UnitOfWork) -> Town:
    """Return a workspace with one person of each role."""
    if "scene" not in request.fixturenames:
        return settle(uow, "Acme")
    made: Furnished = request.getfixturevalue("furnished")
    return made.town


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
def scene(clock: FixedClock, furnished: Furnished) -> Scene:
    """Return what stands in `acme` after a busy week; see tests/factories/scenes.py.

    The clock stands at the end of that week from now on.
    """
    clock.set(furnished.at)
    return furnished.scene
