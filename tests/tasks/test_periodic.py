"""The timetable: which instant a tick has, that it runs once among many workers, heartbeats."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from engine.core import ticks
from engine.core.clock import FixedClock
from engine.core.ticks import Heartbeat
from engine.house import House
from tasks import periodic
from tasks.periodic import JOBS, Heart, Job, Timetable, process_name, run_sweep
from tests.fakes.house import FakeHouse
from tests.support.house import START

MINUTE = timedelta(minutes=1)
ALL = sorted(job.sweep for job in JOBS)
EACH_MINUTE = [job.sweep for job in JOBS if job.every == MINUTE]


def turn(timetable: Timetable, held: str = "") -> None:
    """Let the timetable turn, and wait for what it began but for the sweep that is held."""
    timetable.turn()
    for thread in timetable.threads():
        if thread.name != f"Sweep-{held}":
            thread.join(30)


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


def test_any_number_of_workers_tick_once(fake_house: FakeHouse, clock: FixedClock) -> None:
    workers = [Timetable(fake_house.as_house()) for _ in range(3)]
    for _second in range(61):
        for worker in workers:
            turn(worker)
        clock.advance(timedelta(seconds=1))
    assert sorted(fake_house.swept) == sorted([*ALL, *EACH_MINUTE])


def test_rac_01_of_three_schedulers_a_hundred_ticks_are_a_hundred_executions(
    fake_house: FakeHouse, clock: FixedClock
) -> None:
    jobs = (Job("sends", MINUTE),)
    schedulers = [Timetable(fake_house.as_house(), jobs) for _ in range(3)]
    for _tick in range(100):
        for scheduler in schedulers:
            turn(scheduler)
        clock.advance(MINUTE)
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


def test_a_restarted_worker_does_not_tick_again(fake_house: FakeHouse, clock: FixedClock) -> None:
    for _restart in range(3):
        turn(Timetable(fake_house.as_house()))
    assert sorted(fake_house.swept) == ALL


def test_a_clock_set_back_ticks_nothing_twice(fake_house: FakeHouse, clock: FixedClock) -> None:
    timetable = Timetable(fake_house.as_house())
    for shift in (MINUTE, -MINUTE, MINUTE):
        turn(timetable)
        clock.advance(shift)
    assert fake_house.swept.count("steps") == 2


class Held:
    """A sweep that goes on until a test lets it end."""

    def __init__(self) -> None:
        self.begun, self.over, self.times = Event(), Event(), 0

    def __call__(self) -> dict[str, int]:
        self.times += 1
        self.begun.set()
        assert self.over.wait(30)
        return {}


def test_a_long_sweep_keeps_neither_the_scheduler_nor_the_other_ticks_waiting(
    fake_house: FakeHouse, clock: FixedClock
) -> None:
    long = Held()
    fake_house.sweeps = {**fake_house.sweeps, "retention": long}
    timetable = Timetable(fake_house.as_house())
    for _minute in range(4):
        turn(timetable, held="retention")
        clock.advance(MINUTE)
    assert long.begun.wait(30)
    assert all(fake_house.swept.count(name) == 4 for name in EACH_MINUTE)
    long.over.set()


def test_a_sweep_that_outlives_its_minute_is_begun_again_only_when_it_is_over(
    fake_house: FakeHouse, clock: FixedClock
) -> None:
    long = Held()
    fake_house.sweeps = {"sends": long}
    timetable = Timetable(fake_house.as_house(), (Job("sends", MINUTE),))
    timetable.turn()
    assert long.begun.wait(30)
    for _minute in range(3):
        clock.advance(MINUTE)
        timetable.turn()
    assert long.times == 1
    long.over.set()
    for thread in timetable.threads():
        thread.join(30)
    turn(timetable)
    assert long.times == 2, "the newest tick was missed meanwhile"


def test_a_tick_does_the_bounded_part_where_there_is_one(fake_house: FakeHouse) -> None:
    ticked: list[str] = []

    def bounded() -> dict[str, int]:
        ticked.append("outbox")
        return {}

    fake_house.bounded = {"outbox": bounded}
    turn(Timetable(fake_house.as_house()))
    assert ticked == ["outbox"]
    assert "outbox" not in fake_house.swept


def test_the_product_events_are_what_a_tick_bounds(house: House) -> None:
    assert set(house.bounded) == {"outbox"}
    assert house.bounded["outbox"] != house.sweeps["outbox"]


def test_without_a_database_the_timetable_goes_on(
    fake_house: FakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ticks, "claim", _away)
        timetable = Timetable(fake_house.as_house())
        turn(timetable)
    assert fake_house.swept == []


def test_the_timetable_leaves_a_heartbeat(
    fake_house: FakeHouse, clock: FixedClock, house: House
) -> None:
    turn(Timetable(fake_house.as_house()))
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
