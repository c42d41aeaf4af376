"""Hints: JSON of ids and numbers, due on the engine's clock, in a store that may vanish."""

import pickle
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from huey.registry import Message

from engine.core.clock import FixedClock
from engine.core.settings import Settings
from tasks.automations import WALK_STEPS
from tasks.dispatch import TASKS
from tasks.queue import CAMPAIGN, ENGINE, NAMES, TRANSACTIONAL, HintSerializer, NotAHint, Queues
from tests.fakes.house import FakeHouse
from tests.support.house import START

WALK = WALK_STEPS.name


def taken(queues: Queues, name: str) -> list[Sequence[Any]]:
    """Take every waiting hint of a queue and return the arguments."""
    found = []
    while (hint := queues.by_name[name].dequeue()) is not None:
        found.append(hint.args)
    return found


def test_a_hint_comes_out_as_it_went_in(queues: Queues) -> None:
    queues.put(ENGINE, WALK, ([1, 2, 3],))
    assert taken(queues, ENGINE) == [([1, 2, 3],)]


def test_each_queue_has_its_own_hints(queues: Queues) -> None:
    for number, name in enumerate(NAMES):
        queues.put(name, WALK, ([number],))
    assert [taken(queues, name) for name in NAMES] == [[([n],)] for n in range(len(NAMES))]


def test_an_urgent_hint_overtakes(queues: Queues) -> None:
    queues.put(ENGINE, WALK, ([1],))
    queues.put(ENGINE, WALK, ([2],), priority=10)
    assert taken(queues, ENGINE) == [([2],), ([1],)]


def test_another_process_finds_the_hints(queues: Queues, settings: Settings) -> None:
    queues.put(TRANSACTIONAL, WALK, ([7],))
    other = Queues(settings, TASKS)
    assert taken(other, TRANSACTIONAL) == [([7],)]
    other.close()


def test_a_later_hint_waits_for_the_engines_clock(queues: Queues, clock: FixedClock) -> None:
    huey = queues.by_name[CAMPAIGN]
    queues.put(CAMPAIGN, WALK, ([5],), due_at=START + timedelta(seconds=30))
    assert huey.dequeue() is None
    assert huey.read_schedule() == []
    clock.advance(timedelta(seconds=31))
    [hint] = huey.read_schedule()
    assert hint.args == ([5],)
    assert huey.ready_to_run(hint)


def test_a_task_works_in_the_attached_house(queues: Queues, fake_house: FakeHouse) -> None:
    queues.attach(fake_house)
    queues.put(ENGINE, WALK, ([1, 2],))
    huey = queues.by_name[ENGINE]
    huey.execute(huey.dequeue())
    assert fake_house.steps.walked == [([1, 2],)]


def test_a_process_that_only_hands_over_runs_no_task(queues: Queues) -> None:
    hint = queues._tasks[ENGINE, WALK].task_class(([1],))
    with pytest.raises(RuntimeError, match="attach"):
        hint.execute()


def test_a_failed_task_is_not_tried_again_by_the_queue(
    queues: Queues, fake_house: FakeHouse, caplog: pytest.LogCaptureFixture
) -> None:
    queues.attach(object())  # a house without walkers: the task fails
    queues.put(ENGINE, WALK, ([1],))
    huey = queues.by_name[ENGINE]
    huey.execute(huey.dequeue())
    assert "Unhandled exception" in caplog.text
    assert huey.dequeue() is None
    assert huey.scheduled_count() == 0
    assert huey.result_count() == 0


def test_a_vanished_queue_is_a_new_empty_queue(
    queues: Queues, settings: Settings, vanish: Callable[[], None]
) -> None:
    queues.put(ENGINE, WALK, ([1],))
    queues.put(ENGINE, WALK, ([2],), due_at=START + timedelta(seconds=5))
    vanish()
    huey = queues.by_name[ENGINE]
    assert huey.dequeue() is None
    assert huey.read_schedule(START + timedelta(minutes=1)) == []
    queues.put(ENGINE, WALK, ([3],))
    other = Queues(settings, TASKS)
    assert taken(other, ENGINE) == [([3],)]
    other.close()


@pytest.mark.parametrize(
    "arguments", [({"a": 1},), (1.5,), (None,), (["text"],), ([[1]],), (b"bytes",)]
)
def test_content_never_enters_the_queue(queues: Queues, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(NotAHint):
        queues.put(ENGINE, WALK, arguments)


@pytest.mark.parametrize(
    "planted",
    [
        pickle.dumps(Message(id="1", name=WALK, args=([1],))),
        b"",
        b"[]",
        b"{}",
        b"12",
        b'["1", "t", null, null, {"a": 1}]',
        b'["1", "t", null, null, [{"a": 1}]]',
        b'["1", "t", "no time", null, [1]]',
        b"\xff\xfe",
    ],
)
def test_a_foreign_message_is_refused_and_gone(queues: Queues, planted: bytes) -> None:
    huey = queues.by_name[ENGINE]
    huey.storage.enqueue(planted)
    with pytest.raises(NotAHint):
        huey.dequeue()
    assert huey.dequeue() is None


def test_a_message_holds_no_retries() -> None:
    written = HintSerializer().serialize(Message(id="1", name=WALK, args=([1],), retries=9))
    assert HintSerializer().deserialize(written).retries == 0
