"""The database and queue of a test: migrated once a run, copied for each test that asks.

Each test has a database of its own, so it may commit, use threads and start processes.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from engine.core.db import make_engine
from migrations import run
from tests.support.leg_plugin import Leg, require_leg
from tests.support.servers import Postgres, Redis


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Return a running PostgreSQL cluster."""
    server = Postgres()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    """Return a running Redis."""
    server = Redis()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a migrated SQLite file that nobody has open."""
    path = tmp_path_factory.mktemp("template") / "stellwerk.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres: Postgres) -> str:
    """Return the name of a migrated database that only serves as a template."""
    name = postgres.create()
    migrate(postgres.url(name))
    postgres.freeze(name)
    return name


@pytest.fixture
def empty_database_url(leg: Leg, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a database without any table, for tests of migrations."""
    require_leg(request.node)
    if leg == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
    else:
        yield from _postgres_database(request.getfixturevalue("postgres"), None)


@pytest.fixture
def database_url(leg: Leg, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a migrated, empty database that belongs to this test alone."""
    require_leg(request.node)
    if leg == "sqlite":
        path = tmp_path / "stellwerk.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
    else:
        template: str = request.getfixturevalue("postgres_template")
        yield from _postgres_database(request.getfixturevalue("postgres"), template)


@pytest.fixture
def redis_url(leg: Leg, request: pytest.FixtureRequest) -> str | None:
    """Return the address of an unused Redis database; None on the leg with the SQLite queue."""
    require_leg(request.node)
    if leg == "sqlite":
        return None
    server: Redis = request.getfixturevalue("redis")
    return server.next_url()


def migrate(url: str) -> None:
    """Bring the schema of `url` to the newest revision and let go of it."""
    engine = make_engine(make_url(url))
    run.upgrade(engine)
    engine.dispose()


def _postgres_database(server: Postgres, template: str | None) -> Iterator[str]:
    name = server.create(template)
    yield server.url(name)
    server.drop(name)
