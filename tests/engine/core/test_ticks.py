"""A tick is claimed once; heartbeats tell who is alive."""

import threading
from datetime import timedelta

from sqlalchemy.orm import Session

from engine.core import ticks
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork


def test_a_tick_is_claimed_by_exactly_one_of_many(uow: UnitOfWork, clock: FixedClock) -> None:
    at, won, barrier = clock.now(), list[bool](), threading.Barrier(6)

    def claim() -> None:
        barrier.wait()
        with uow.begin() as session:
            won.append(ticks.claim(session, "steps", at, at))

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 5 + [True]


def test_the_next_instant_and_another_job_are_free(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    later = at + timedelta(minutes=1)
    claims = [("steps", at), ("steps", at), ("steps", later), ("sends", at)]
    assert [ticks.claim(session, job, when, at) for job, when in claims] == [
        True,
        False,
        True,
        True,
    ]


def test_a_silent_worker_counts_as_gone(session: Session, clock: FixedClock) -> None:
    assert ticks.pulse(session, "worker", clock.now()) == ticks.Pulse(None, alive=False)
    seen = clock.now()
    ticks.beat(session, "worker", "a", seen)
    ticks.beat(session, "worker", "a", seen)
    for silence, alive in ((60, True), (61, False)):
        pulse = ticks.pulse(session, "worker", seen + timedelta(seconds=silence))
        assert pulse == ticks.Pulse(seen, alive=alive)
    assert ticks.pulse(session, "timetable", seen).seen_at is None


def test_whoever_leaves_is_not_taken_for_alive_and_others_stay(
    session: Session, clock: FixedClock
) -> None:
    for name in ("a", "b"):
        ticks.beat(session, "worker", name, clock.now())
    ticks.leave(session, "a")
    assert ticks.pulse(session, "worker", clock.now()).alive
    ticks.leave(session, "b")
    assert ticks.pulse(session, "worker", clock.now()) == ticks.Pulse(None, alive=False)


def test_old_ticks_and_beats_are_forgotten(session: Session, clock: FixedClock) -> None:
    ticks.claim(session, "steps", clock.now(), clock.now())
    ticks.beat(session, "worker", "a", clock.now())
    assert ticks.forget(session, clock.now()) == 0
    assert ticks.forget(session, clock.advance(timedelta(days=3))) == 2
