"""That something wrote nothing and called nobody: all rows counted, no socket connected."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

import pytest
from sqlalchemy import func, select

from engine.core.db import Base
from engine.core.unit_of_work import UnitOfWork


def rows(uow: UnitOfWork) -> Mapping[str, int]:
    """Return how many rows each table has."""
    with uow.read() as session:
        return {
            table.name: session.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


@contextmanager
def untouched(uow: UnitOfWork) -> Iterator[None]:
    """Fail where the block adds or removes a row of any table, or connects a socket."""
    before = rows(uow)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _forbidden)
        yield
    assert rows(uow) == before


def _forbidden(*args: object) -> NoReturn:
    raise AssertionError(f"a socket was connected: {args[1:]}")
