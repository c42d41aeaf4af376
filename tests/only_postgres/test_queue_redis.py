"""Only here, because the SQLite queue has no server: Redis away, and back again."""

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pydantic import SecretStr

from engine.automations.effects import WalkSteps
from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.house import House
from tasks.dispatch import TASKS, Dispatcher
from tasks.periodic import JOBS
from tasks.queue import ENGINE, HandOverFailed, Queues
from tasks.worker import crew
from tests.fakes.house import FakeHouse
from tests.support import programs
from tests.support.servers import Server
from tests.support.waiting import wait_for
from tests.tasks.shift import Shift


class OwnRedis(Server):
    """A Redis of this test's own, which can be stopped and started again on its port."""

    def __init__(self) -> None:
        self._program = programs.need("Redis", ("redis-server",))["redis-server"]
        super().__init__("own-redis")
        self.begin()

    def begin(self) -> None:
        """Start it, empty."""
        self.folder.mkdir(exist_ok=True)
        self.spawn(
            [self._program, "--port", str(self.port), "--bind", "127.0.0.1",
             "--dir", self.folder, "--save", "", "--appendonly", "no"],
        )  # fmt: skip


@pytest.fixture
def own_redis() -> Iterator[OwnRedis]:
    """Return a running Redis that the test may stop."""
    server = OwnRedis()
    yield server
    server.stop()


@pytest.fixture
def queues(settings: Settings, own_redis: OwnRedis) -> Iterator[Queues]:
    """Return queues on that Redis."""
    url = SecretStr(f"redis://127.0.0.1:{own_redis.port}/0")
    made = Queues(settings.model_copy(update={"redis_url": url}), TASKS)
    yield made
    made.close()


def test_workers_survive_a_redis_that_goes_and_comes(
    queues: Queues, own_redis: OwnRedis, house: House, clock: FixedClock
) -> None:
    fake = FakeHouse(house.runtime, [job.sweep for job in JOBS])
    hand_over = Dispatcher(queues)
    shift = Shift(crew(queues, fake.as_house(), (ENGINE,), 2))
    try:
        hand_over([WalkSteps((1,))])
        wait_for(lambda: fake.steps.ids() == [1], "the hint before")
        wait_for(lambda: fake.swept.count("steps") == 1, "the sweep before")
        own_redis.stop()
        began = time.monotonic()
        with pytest.raises(HandOverFailed):
            hand_over([WalkSteps((2,)), WalkSteps((3,))])
        assert time.monotonic() - began < 5
        clock.advance(timedelta(minutes=1))
        wait_for(lambda: fake.swept.count("steps") == 2, "the sweep without a queue")
        own_redis.begin()
        hand_over([WalkSteps((4,))])
        wait_for(lambda: fake.steps.ids() == [1, 4], "the hint after")
    finally:
        assert shift.stop() is True
