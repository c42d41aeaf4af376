"""A walk goes on where another transaction only stood in its way, and nowhere else."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from psycopg.errors import DeadlockDetected, UndefinedTable
from sqlalchemy.exc import OperationalError

from engine.core.walking import walk


def lost(cause: Exception) -> OperationalError:
    return OperationalError("UPDATE", None, cause)


def busy() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database is locked")
    # SQLITE_BUSY_SNAPSHOT, an extended code of SQLITE_BUSY.
    error.sqlite_errorcode = 517
    return error


@dataclass(frozen=True)
class Row:
    id: int
    lease_until: datetime = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass
class Walking:
    """A room with one due row, whose claims fail with what is in store, one after the other."""

    in_store: list[Exception]
    settled: list[int] = field(default_factory=list)

    def claim(self, ids: Sequence[int] | None, limit: int) -> Sequence[Row]:
        if self.in_store:
            raise self.in_store.pop(0)
        return [Row(number) for number in ids or ()][:limit]

    def parts(self, items: Sequence[Row]) -> Sequence[Sequence[Row]]:
        return [items]

    def run(self, items: Sequence[Row]) -> Mapping[int, str]:
        return {item.id: "done" for item in items}

    def crashed(self, item: Row, error: Exception) -> str:
        return "crashed"

    def settle(self, items: Sequence[Row], outcomes: Mapping[int, str]) -> Sequence[int]:
        self.settled += outcomes
        return []


@pytest.mark.parametrize("cause", [DeadlockDetected(), busy()], ids=["deadlock", "busy"])
def test_a_claim_that_gave_way_is_made_again(cause: Exception) -> None:
    walker = Walking([lost(cause), lost(cause)])
    assert walk(walker, [7]).claimed == 1
    assert walker.settled == [7]


def test_a_claim_that_gives_way_each_time_is_left_to_the_next_sweep() -> None:
    walker = Walking([lost(DeadlockDetected()) for _ in range(3)])
    with pytest.raises(OperationalError):
        walk(walker, [7])
    assert not walker.in_store


def test_a_claim_that_failed_by_itself_is_not_made_again() -> None:
    walker = Walking([lost(UndefinedTable()), lost(DeadlockDetected())])
    with pytest.raises(OperationalError):
        walk(walker, [7])
    assert len(walker.in_store) == 1
