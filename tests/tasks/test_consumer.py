"""The consumers of one process: they serve, survive a lost queue, and stop without losing work."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import pytest
import structlog
from structlog.testing import capture_logs

from engine.automations.effects import WalkSteps
from engine.core import ticks
from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.delivery.effects import DispatchSends
from engine.house import House
from tasks import consumer as consumer_module
from tasks.consumer import QueueConsumer, QueueLog
from tasks.dispatch import TASKS, Dispatcher
from tasks.periodic import JOBS
from tasks.queue import ENGINE, NAMES, Queues
from tasks.worker import crew
from tests.fakes.house import FakeHouse
from tests.support.house import START
from tests.support.waiting import wait_for
from tests.tasks.shift import Shift


@contextmanager
def at_work(queues: Queues, house: FakeHouse, names: tuple[str, ...] = NAMES) -> Iterator[Shift]:
    """Yield a working crew; it is stopped at the end whatever happens."""
    shift = Shift(crew(queues, house.as_house(), names, 2))
    try:
        yield shift
    finally:
        if house.steps.hold is not None:
            house.steps.hold.set()
        shift.stop()


def test_every_queue_is_served_and_the_timetable_kept(
    queues: Queues, fake_house: FakeHouse, house: House, clock: FixedClock
) -> None:
    with at_work(queues, fake_house):
        Dispatcher(queues)(
            [
                WalkSteps((1, 2)),
                DispatchSends("transactional", (3,)),
                DispatchSends("campaign", (4,)),
            ]
        )
        wait_for(lambda: fake_house.steps.ids() == [1, 2], "the step hint")
        wait_for(lambda: sorted(fake_house.sends.ids()) == [3, 4], "the hints of both pools")
        wait_for(lambda: len(fake_house.swept) == len(JOBS), "one sweep of each job")
        wait_for(lambda: _alive(house, clock) == [True, True], "the heartbeats of both")
    assert sorted(fake_house.swept) == sorted(job.sweep for job in JOBS)


def _alive(house: House, clock: FixedClock) -> list[bool]:
    with house.runtime.uow.read() as session:
        return [ticks.pulse(session, role, clock.now()).alive for role in ("worker", "timetable")]


def test_a_crew_that_ends_as_it_should_is_not_taken_for_alive(
    queues: Queues, fake_house: FakeHouse, house: House, clock: FixedClock
) -> None:
    with at_work(queues, fake_house):
        wait_for(lambda: _alive(house, clock) == [True, True], "the heartbeats of both")
    assert _alive(house, clock) == [False, False]


def _ticked(house: FakeHouse, names: list[str], times: int) -> bool:
    return all(house.swept.count(name) >= times for name in names)


def test_hue_01_four_consumers_have_one_effect_a_tick(
    queues: Queues, settings: Settings, fake_house: FakeHouse, clock: FixedClock
) -> None:
    others = [Queues(settings, TASKS) for _ in range(3)]
    shifts = [Shift(crew(each, fake_house.as_house(), (ENGINE,), 2)) for each in [queues, *others]]
    minutes = [job.sweep for job in JOBS if job.every == timedelta(minutes=1)]
    try:
        for minute in range(1, 11):
            wait_for(partial(_ticked, fake_house, minutes, minute), f"the ticks of minute {minute}")
            clock.advance(timedelta(minutes=1))
    finally:
        for shift in shifts:
            shift.stop()
        for each in others:
            each.close()
    # The last advance may or may not have been ticked before the stop.
    assert {fake_house.swept.count(name) for name in minutes} <= {10, 11}
    assert fake_house.swept.count("retention") == 1


def test_a_worker_without_the_engine_queue_keeps_no_timetable(
    queues: Queues, fake_house: FakeHouse, house: House, clock: FixedClock
) -> None:
    with at_work(queues, fake_house, ("transactional",)):
        Dispatcher(queues)([DispatchSends("transactional", (3,)), WalkSteps((1,))])
        wait_for(lambda: fake_house.sends.ids() == [3], "the hint of the served pool")
    assert fake_house.steps.ids() == []
    assert fake_house.swept == []
    with house.runtime.uow.read() as session:
        assert not ticks.pulse(session, "timetable", clock.now()).alive


def test_a_later_hint_arrives_when_its_time_has_come(
    queues: Queues, fake_house: FakeHouse, clock: FixedClock
) -> None:
    with at_work(queues, fake_house):
        Dispatcher(queues)([WalkSteps((1,), START + timedelta(seconds=30)), WalkSteps((2,))])
        wait_for(lambda: fake_house.steps.ids() == [2], "the hint for now")
        clock.advance(timedelta(seconds=31))
        wait_for(lambda: fake_house.steps.ids() == [2, 1], "the hint for later")


def test_a_stop_waits_for_the_running_task(queues: Queues, fake_house: FakeHouse) -> None:
    release = fake_house.steps.hold = threading.Event()
    with at_work(queues, fake_house) as shift:
        Dispatcher(queues)([WalkSteps((1,))])
        assert fake_house.steps.begun.wait(30)
        threading.Timer(0.3, release.set).start()
        assert shift.stop() is True
    assert fake_house.steps.ids() == [1]


def test_a_stop_does_not_wait_for_ever(
    queues: Queues, fake_house: FakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_module, "DRAIN_S", 0.2)
    fake_house.steps.hold = threading.Event()
    with at_work(queues, fake_house) as shift:
        Dispatcher(queues)([WalkSteps((1,))])
        assert fake_house.steps.begun.wait(30)
        assert shift.stop() is False


def test_hints_that_wait_at_the_stop_are_served_after_the_next_start(
    queues: Queues, fake_house: FakeHouse, settings: Settings
) -> None:
    with at_work(queues, fake_house):
        pass
    Dispatcher(queues)([WalkSteps((1,))])
    assert fake_house.steps.ids() == []
    again = Queues(settings, TASKS)
    with at_work(again, fake_house):
        wait_for(lambda: fake_house.steps.ids() == [1], "the hint left behind")
    again.close()


def test_a_working_crew_survives_the_loss_of_its_queue(
    queues: Queues, fake_house: FakeHouse, settings: Settings, vanish: Callable[[], None]
) -> None:
    web = Queues(settings, TASKS)
    hand_over = Dispatcher(web)
    with at_work(queues, fake_house):
        hand_over([WalkSteps((1,))])
        wait_for(lambda: fake_house.steps.ids() == [1], "the first hint")
        for number in (2, 3, 4):
            hand_over([WalkSteps((99,), START + timedelta(seconds=50))])
            vanish()
            hand_over([WalkSteps((number,))])
            wait_for(lambda: fake_house.steps.ids()[-1], "a hint after the loss")
            wait_for(
                lambda number=number: number in fake_house.steps.ids(),  # type: ignore[misc]
                "the hint after the loss",
            )
    web.close()
    assert fake_house.steps.ids() == [1, 2, 3, 4]


def test_the_consumers_leave_the_signals_alone(queues: Queues) -> None:
    made = QueueConsumer(queues.by_name[ENGINE], 1, None)
    made._set_signal_handlers()
    assert made._signum is None


def test_the_same_trouble_is_logged_once_in_a_while() -> None:
    handler = QueueLog()
    logger = logging.Logger("huey.consumer")
    logger.addHandler(handler)
    structlog.reset_defaults()
    with capture_logs() as said:
        for _second in range(5):
            logger.error("Error reading from queue")
        logger.error("Error reading schedule.")
        logger.info("not worth a line")
    assert [line["said"] for line in said] == [
        "Error reading from queue",
        "Error reading schedule.",
    ]
