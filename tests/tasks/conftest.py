"""The queues of a test, on the store of the leg, and the ways in which that store can vanish."""

from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from engine.core.settings import Settings
from engine.house import House
from tasks.dispatch import TASKS
from tasks.periodic import JOBS
from tasks.queue import QUEUE_FILE, Queues
from tests.fakes.house import FakeHouse


@pytest.fixture
def queues(settings: Settings, house: House) -> Iterator[Queues]:
    """Return the four queues of the test's installation."""
    made = Queues(settings, TASKS)
    yield made
    made.close()


@pytest.fixture
def fake_house(house: House) -> FakeHouse:
    """Return a house that notes what it is asked for, on the real floor."""
    return FakeHouse(house.runtime, [job.sweep for job in JOBS])


@pytest.fixture
def vanish(settings: Settings) -> Callable[[], None]:
    """Return what makes the whole queue vanish: its file deleted, or FLUSHALL."""

    def lose() -> None:
        if settings.redis_url is None:
            for end in ("", "-wal", "-shm"):
                (settings.home / f"{QUEUE_FILE}{end}").unlink(missing_ok=True)
            return
        with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
            redis.flushall()

    return lose
