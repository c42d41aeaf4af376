"""Tokens of a window, shared by all: never more than the limit, back in the next window."""

import threading
from datetime import timedelta

from sqlalchemy.orm import Session

from engine.core import rate
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork

SECOND = timedelta(seconds=1)


def test_a_window_grants_its_limit_and_no_more(session: Session, clock: FixedClock) -> None:
    def lease(want: int, key: str = "k") -> int:
        return rate.lease(session, key, 10, SECOND, clock.now(), want)

    assert [lease(4), lease(4), lease(4), lease(4)] == [4, 4, 2, 0]
    assert lease(4, "another") == 4
    clock.advance(SECOND)
    assert lease(10) == 10


def test_threads_together_get_the_limit(uow: UnitOfWork, clock: FixedClock) -> None:
    granted = list[int]()

    def lease() -> None:
        for _ in range(5):
            with uow.begin() as session:
                granted.append(rate.lease(session, "k", 12, SECOND, clock.now()))

    threads = [threading.Thread(target=lease) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 12


def test_the_end_of_the_window_is_told_in_whole_seconds(clock: FixedClock) -> None:
    minute = timedelta(minutes=1)
    assert rate.retry_after(minute, clock.now()) in (60, 61)
    assert rate.retry_after(minute, clock.advance(timedelta(seconds=59.5))) == 1
