"""The timetable: which instant a tick has, that it runs once among many workers, heartbeats."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from engine.core import ticks
from engine.core.clock import FixedClock
from engine.core.ticks import Heartbeat
from engine.house import House
from tasks import periodic
from tasks.dispatch import TASKS
from tasks.periodic import JOBS, Heart, Job, Timetable, process_name, run_sweep
from tasks.queue import ENGINE, HandOverFailed, Queues
from tests.fakes.house import FakeHouse
from tests.support.house import START

MINUTE = timedelta(minutes=1)
ALL = sorted(job.sweep for job in JOBS)
EACH_MINUTE = [job.sweep for job in JOBS if job.every == MINUTE]


def serve(queues: Queues) -> None:
    """Run what waits in the engine queue."""
    huey = queues.by_name[ENGINE]
    while (hint := huey.dequeue()) is not None:
        huey.execute(hint)


@pytest.mark.parametrize(
    ("job", "at", "tick"),
    [
        (Job("steps", MINUTE), "09:00:00", "09:00:00"),
        (Job("steps", MINUTE), "09:00:59", "09:00:00"),
        (Job("scans", 5 * MINUTE), "09:04:59", "09:00:00"),
        (Job("segments", 30 * MINUTE), "09:59:00", "09:30:00"),
        (Job("retention", timedelta(days=1), after=timedelta(hours=3)), "09:00:00", "03:00:00"),
    ],
)
def test_the_tick_is_the_newest_full_period(job: Job, at: str, tick: str) -> None:
    day = START.date()
    instant = datetime.combine(day, datetime.strptime(at, "%H:%M:%S").time(), UTC)  # noqa: DTZ007
    expected = datetime.combine(day, datetime.strptime(tick, "%H:%M:%S").time(), UTC)  # noqa: DTZ007
    assert job.tick(instant) == expected


def test_before_the_hour_of_a_daily_job_the_tick_is_yesterdays() -> None:
    daily = Job("retention", timedelta(days=1), after=timedelta(hours=10))
    assert daily.tick(START) == START.replace(hour=10) - timedelta(days=1)


def test_any_number_of_workers_tick_once(
    queues: Queues, fake_house: FakeHouse, clock: FixedClock
) -> None:
    queues.attach(fake_house)
    workers = [Timetable(queues, fake_house.as_house()) for _ in range(3)]
    for _second in range(61):
        for worker in workers:
            worker.turn()
        clock.advance(timedelta(seconds=1))
    serve(queues)
    assert sorted(fake_house.swept) == sorted([*ALL, *EACH_MINUTE])


def test_rac_01_of_three_schedulers_a_hundred_ticks_are_a_hundred_executions(
    queues: Queues, fake_house: FakeHouse, clock: FixedClock
) -> None:
    queues.attach(fake_house)
    jobs = (Job("sends", MINUTE),)
    schedulers = [Timetable(queues, fake_house.as_house(), jobs) for _ in range(3)]
    for _tick in range(100):
        for scheduler in schedulers:
            scheduler.turn()
        clock.advance(MINUTE)
    serve(queues)
    assert fake_house.swept == ["sends"] * 100


def test_rac_01_three_threads_at_the_same_hundred_ticks_run_each_once(
    fake_house: FakeHouse, clock: FixedClock
) -> None:
    first = int(START.timestamp())
    gate = Barrier(3)

    def schedule() -> None:
        for tick in range(100):
            gate.wait(30)
            run_sweep(fake_house.as_house(), "sends", first + 60 * tick)

    with ThreadPoolExecutor(3) as pool:
        for running in [pool.submit(schedule) for _ in range(3)]:
            running.result()
    assert fake_house.swept == ["sends"] * 100


def test_a_restarted_worker_does_not_tick_again(
    queues: Queues, fake_house: FakeHouse, clock: FixedClock
) -> None:
    queues.attach(fake_house)
    for _restart in range(3):
        Timetable(queues, fake_house.as_house()).turn()
        serve(queues)
    assert sorted(fake_house.swept) == ALL


def test_a_clock_set_back_ticks_nothing_twice(
    queues: Queues, fake_house: FakeHouse, clock: FixedClock
) -> None:
    queues.attach(fake_house)
    timetable = Timetable(queues, fake_house.as_house())
    for shift in (MINUTE, -MINUTE, MINUTE):
        timetable.turn()
        clock.advance(shift)
    serve(queues)
    assert fake_house.swept.count("steps") == 2


def test_without_a_queue_the_ticks_run_on_the_spot(
    queues: Queues, fake_house: FakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: object, **_options: object) -> None:
        raise HandOverFailed("away")

    monkeypatch.setattr(queues, "put", away)
    Timetable(queues, fake_house.as_house()).turn()
    assert sorted(fake_house.swept) == ALL


def test_without_queue_and_database_the_timetable_goes_on(
    queues: Queues, fake_house: FakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: object, **_options: object) -> None:
        raise HandOverFailed("away")

    def broken(*_arguments: object) -> bool:
        raise OperationalError("claim", None, OSError("gone"))

    monkeypatch.setattr(queues, "put", away)
    monkeypatch.setattr(ticks, "claim", broken)
    Timetable(queues, fake_house.as_house()).turn()
    assert fake_house.swept == []


def test_the_timetable_leaves_a_heartbeat(
    queues: Queues, fake_house: FakeHouse, clock: FixedClock, house: House
) -> None:
    Timetable(queues, fake_house.as_house()).turn()
    with house.runtime.uow.read() as session:
        assert ticks.pulse(session, "timetable", clock.now()).alive
        assert not ticks.pulse(session, "timetable", clock.now() + 2 * MINUTE).alive


def test_a_heart_beats_every_five_seconds(house: House, clock: FixedClock) -> None:
    heart = Heart(house.runtime.uow, "worker")
    seen = []
    for _second in range(11):
        heart.beat()
        with house.runtime.uow.read() as session:
            seen.append(session.scalars(select(Heartbeat.seen_at)).one())
        clock.advance(timedelta(seconds=1))
    assert [(at - START).seconds for at in seen] == [0] * 5 + [5] * 5 + [10]


def test_each_heart_has_a_name_of_its_own(house: House) -> None:
    for _worker in range(2):
        Heart(house.runtime.uow, "worker").beat()
    with house.runtime.uow.read() as session:
        assert len(session.scalars(select(Heartbeat.name)).all()) == 2


def test_a_heartbeat_survives_a_database_that_is_away(
    house: House, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    heart = Heart(house.runtime.uow, "worker")
    with monkeypatch.context() as patched:
        patched.setattr(ticks, "beat", _away)
        heart.beat()
    heart.beat()
    with house.runtime.uow.read() as session:
        assert ticks.pulse(session, "worker", clock.now()).alive


def _away(*_arguments: object) -> None:
    raise OperationalError("beat", None, OSError("gone"))


def test_a_name_fits_its_column() -> None:
    assert len(process_name("timetable")) <= 120


def test_each_job_stands_once_in_the_timetable() -> None:
    names = [job.sweep for job in JOBS]
    assert len(names) == len(set(names))
    assert all(timedelta(days=1) % job.every == timedelta(0) for job in JOBS)


def test_the_timetable_travels_under_a_known_name() -> None:
    assert periodic.RUN_SWEEP in TASKS


def test_a_heart_that_sees_a_newer_schema_beats_no_more(house: House, clock: FixedClock) -> None:
    heart = Heart(house.runtime.uow, "worker")
    heart.beat()
    assert heart.newer is None
    with house.runtime.uow.begin() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    clock.advance(periodic.BEAT_EVERY)
    heart.beat()
    assert heart.newer == "9999"
    with house.runtime.uow.read() as session:
        assert session.scalars(select(Heartbeat.seen_at)).all() == [START]


def test_a_heart_outlives_a_database_without_its_tables(house: House, clock: FixedClock) -> None:
    heart = Heart(house.runtime.uow, "worker")
    with house.runtime.uow.begin() as session:
        session.execute(text("DROP TABLE alembic_version"))
    heart.beat()
    assert heart.newer is None
