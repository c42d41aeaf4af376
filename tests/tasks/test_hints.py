"""Hints between versions and commits: what cannot be read stops nothing, what is early finds all.

The rows are the truth (decision G2), so these tests look at what became of the runs.
"""

import json
import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import pytest
from huey.registry import Message
from sqlalchemy import Connection, event

from engine.automations.models import Automation
from engine.core import effects
from engine.core.clock import FixedClock
from engine.core.walking import Report
from engine.house import House
from tasks.automations import WALK_STEPS
from tasks.dispatch import Dispatcher
from tasks.queue import ENGINE, Queues
from tasks.worker import crew
from tests.factories import automations as make
from tests.factories.world import World
from tests.support.house import START
from tests.support.waiting import wait_for
from tests.tasks.shift import Shift

WALK = WALK_STEPS.name


@contextmanager
def at_work(queues: Queues, house: House) -> Iterator[None]:
    shift = Shift(crew(queues, house, (ENGINE,), 2))
    try:
        yield
    finally:
        shift.stop()


@pytest.fixture
def world(house: House, clock: FixedClock) -> World:
    return World(house.runtime.uow, clock)


def ended(world: World, automation: Automation) -> bool:
    return world.run(automation).status == "completed"


def test_hue_10_messages_of_another_version_stop_nothing_and_lose_no_run(
    queues: Queues, house: House, world: World, clock: FixedClock
) -> None:
    automation = world.live(make.delay("wait", 10, "minutes"), make.end("last"))
    world.fire()
    [waiting] = [visit.id for visit in world.visits(automation)]
    later = (START + timedelta(seconds=5)).isoformat()
    messages = [
        pickle.dumps(Message(id="1", name=WALK, args=([waiting],))),  # as the library writes them
        json.dumps(["2", WALK, None, [[waiting]]]).encode(),  # without a priority
        json.dumps(["3", "automations.step", None, None, [[waiting]]]).encode(),  # unknown here
        json.dumps(["4", WALK, None, None, [[waiting], 1]]).encode(),  # an argument too many
        json.dumps(["5", [WALK], later, None, {"ids": [waiting]}]).encode(),
        b"\x00",
    ]
    storage = queues.by_name[ENGINE].storage
    for message in messages:
        storage.enqueue(message)
        storage.add_to_schedule(message, START + timedelta(seconds=5))
    storage.add_to_schedule(
        json.dumps(["6", WALK, later, None, [[waiting]]]).encode(), START + timedelta(seconds=5)
    )
    queues.attach(house)
    with at_work(queues, house):
        wait_for(lambda: storage.queue_size() == 0, "every message read, in whatever shape")
        clock.advance(timedelta(seconds=6))
        wait_for(lambda: storage.schedule_size() == 0, "every later message read")
        assert world.log(automation) == [("wait", "pending")]
        clock.advance(timedelta(minutes=10))
        wait_for(lambda: ended(world, automation), "the run that no hint names, by its row")


def test_hue_11_a_slow_commit_hands_over_only_what_a_worker_then_finds(
    queues: Queues, house: House, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.end("last"))
    walked: list[tuple[list[int], int]] = []
    walk = house.steps.walk

    def noted(ids: Sequence[int]) -> Report:
        report = walk(ids)
        walked.append((list(ids), report.claimed))
        return report

    def slow(connection: Connection) -> None:
        if connection is not ours[0]:
            return  # a heartbeat of the crew
        end = time.monotonic() + 2
        wait_for(lambda: time.monotonic() > end, "two seconds of a slow disk")
        walked_before.append(len(walked))

    walked_before: list[int] = []
    ours: list[Connection] = []
    monkeypatch.setattr(house.steps, "walk", noted)
    # Only the hint is left to end the run.
    monkeypatch.setitem(house.sweeps, "steps", dict)
    queues.attach(house)
    uow = house.runtime.uow
    with at_work(queues, house):
        effects.install(Dispatcher(queues))
        with uow.begin() as session:
            make.fire(session, world.workspace_id, world.people, START)
            ours.append(session.connection())
            event.listen(uow.database.engine, "commit", slow)
        event.remove(uow.database.engine, "commit", slow)
        wait_for(lambda: ended(world, automation), "the run of the committed event, by its hint")
    [step] = [visit.id for visit in world.visits(automation)]
    assert walked_before == [0]
    assert walked == [([step], 1)]
