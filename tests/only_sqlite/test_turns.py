"""Writers of one process take turns, instead of asking SQLite again after ever longer sleeps."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError

from engine.core.db import WRITE, Database
from engine.core.unit_of_work import UnitOfWork
from tests.support.waiting import wait_for


@pytest.fixture
def uow(tmp_path: Path) -> UnitOfWork:
    """Return transactions on a database file of one table."""
    made = UnitOfWork(Database(make_url(f"sqlite:///{tmp_path / 'turns.db'}")))
    with made.begin() as session:
        session.execute(text("CREATE TABLE seen (word TEXT)"))
    return made


def test_the_next_writer_begins_as_soon_as_the_former_is_done(uow: UnitOfWork) -> None:
    begun = threading.Event()

    def write() -> None:
        begun.set()
        with uow.begin() as session:
            session.execute(text("INSERT INTO seen VALUES ('second')"))

    second = threading.Thread(target=write)
    with uow.begin() as session:
        second.start()
        begun.wait(10)
        session.execute(text("INSERT INTO seen VALUES ('first')"))
        assert second.is_alive()
    second.join(10)
    with uow.read() as session:
        words = session.scalars(text("SELECT word FROM seen ORDER BY rowid")).all()
    assert words == ["first", "second"]


def test_a_writer_that_fails_gives_its_turn_back(uow: UnitOfWork) -> None:
    with pytest.raises(OperationalError), uow.begin() as session:
        session.execute(text("INSERT INTO unseen VALUES ('x')"))
    with uow.begin() as session:
        session.execute(text("INSERT INTO seen VALUES ('after')"))
    with uow.read() as session:
        assert session.scalars(text("SELECT word FROM seen")).all() == ["after"]


def test_readers_wait_for_nobody(uow: UnitOfWork) -> None:
    read: list[int] = []

    def count() -> None:
        with uow.read() as session:
            read.append(session.execute(text("SELECT count(*) FROM seen")).scalar_one())

    with uow.begin() as session:
        session.execute(text("INSERT INTO seen VALUES ('hidden')"))
        reader = threading.Thread(target=count)
        reader.start()
        wait_for(lambda: bool(read), "the reader has read")
    reader.join(10)
    assert read == [0]


def test_a_connection_that_writes_twice_blocks_nobody_afterwards(uow: UnitOfWork) -> None:
    with uow.database.engine.connect().execution_options(**WRITE) as connection:
        for word in ("first", "second"):
            connection.execute(text("INSERT INTO seen VALUES (:word)"), {"word": word})
            connection.commit()
    third = threading.Thread(target=_write_third, args=(uow,), daemon=True)
    third.start()
    third.join(10)
    assert not third.is_alive()


def _write_third(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        session.execute(text("INSERT INTO seen VALUES ('third')"))
