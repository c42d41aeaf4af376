"""From effect to hint: which queue, how many, when; and what a lost queue means for a commit."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from redis.exceptions import RedisError

from engine.automations.effects import WalkSteps
from engine.core import effects
from engine.core.clock import FixedClock
from engine.core.effects import CHUNK, Effect, emit
from engine.delivery.effects import DispatchSends
from engine.house import House
from tasks.dispatch import ROUTES, Dispatcher
from tasks.queue import CAMPAIGN, ENGINE, NAMES, TRANSACTIONAL, HandOverFailed, Queues
from tests.support.house import START

SOON = START + timedelta(seconds=20)
Hint = tuple[str, str, Any, datetime | None]


def waiting(queues: Queues) -> list[Hint]:
    """Return every hint of every queue as (queue, task, arguments, due)."""
    return [
        (name, hint.name, hint.args, hint.eta)
        for name in NAMES
        for hint in [*queues.by_name[name].pending(), *queues.by_name[name].scheduled()]
    ]


@pytest.mark.parametrize(
    ("effect", "hint"),
    [
        (WalkSteps((1, 2)), (ENGINE, "automations.walk_steps", ([1, 2],), None)),
        (WalkSteps((1,), SOON), (ENGINE, "automations.walk_steps", ([1],), SOON)),
        (WalkSteps((1,), START), (ENGINE, "automations.walk_steps", ([1],), None)),
        (
            DispatchSends("transactional", (4,)),
            (TRANSACTIONAL, "delivery.dispatch_sends", ("transactional", [4]), None),
        ),
        (
            DispatchSends("campaign", (4, 5), SOON),
            (CAMPAIGN, "delivery.dispatch_sends", ("campaign", [4, 5]), SOON),
        ),
    ],
)
def test_an_effect_becomes_one_hint(queues: Queues, effect: Effect, hint: Hint) -> None:
    Dispatcher(queues)([effect])
    assert waiting(queues) == [hint]


@pytest.mark.parametrize(("seconds", "hints"), [(59, 1), (60, 1), (61, 0), (86_400, 0)])
def test_what_is_due_after_the_next_sweep_gets_no_hint(
    queues: Queues, seconds: int, hints: int
) -> None:
    Dispatcher(queues)([WalkSteps((1,), START + timedelta(seconds=seconds))])
    assert len(waiting(queues)) == hints


def test_what_is_soon_is_judged_by_the_engines_clock(queues: Queues, clock: FixedClock) -> None:
    due = START + timedelta(days=3)
    clock.set(due - timedelta(seconds=10))
    Dispatcher(queues)([WalkSteps((1,), due)])
    assert [hint[3] for hint in waiting(queues)] == [due]


def test_the_ids_of_one_commit_share_hints(queues: Queues) -> None:
    made: list[Effect] = [WalkSteps((number,)) for number in range(CHUNK + 1)]
    made += [WalkSteps((0,)), WalkSteps((7,), SOON), DispatchSends("transactional", (9,))]
    Dispatcher(queues)(made)
    sizes = sorted((hint[0], len(hint[2][-1])) for hint in waiting(queues))
    assert sizes == [(ENGINE, 1), (ENGINE, 1), (ENGINE, CHUNK), (TRANSACTIONAL, 1)]


def test_nothing_is_enqueued_by_a_rollback(queues: Queues, house: House, dispatch: object) -> None:
    effects.install(Dispatcher(queues))
    with pytest.raises(LookupError):
        _fail_after_emitting(house)
    assert waiting(queues) == []
    with house.runtime.uow.begin() as session:
        emit(session, WalkSteps((2,)))
        assert waiting(queues) == []
    assert [hint[2] for hint in waiting(queues)] == [([2],)]


@pytest.mark.parametrize(
    "fault", [sqlite3.OperationalError("locked"), RedisError("away"), TimeoutError("late")]
)
def test_a_queue_that_is_away_does_not_harm_the_commit(
    queues: Queues, house: House, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def refuse(*_message: object) -> None:
        raise fault

    monkeypatch.setattr(queues.by_name[ENGINE].storage, "enqueue", refuse)
    with pytest.raises(HandOverFailed):
        Dispatcher(queues)([WalkSteps((1,))])
    effects.install(Dispatcher(queues))
    with house.runtime.uow.begin() as session:
        emit(session, WalkSteps((1,)))
    assert waiting(queues) == []


def _fail_after_emitting(house: House) -> None:
    with house.runtime.uow.begin() as session:
        emit(session, WalkSteps((1,)))
        raise LookupError


def _below(kind: type[Effect]) -> Sequence[type[Effect]]:
    return [one for below in kind.__subclasses__() for one in (below, *_below(below))]


def test_every_effect_of_the_engine_has_a_route() -> None:
    product = {kind for kind in _below(Effect) if kind.__module__.startswith("engine.")}
    assert product == set(ROUTES)


def test_an_effect_without_a_route_is_a_bug(queues: Queues) -> None:
    @dataclass(frozen=True)
    class Stray(Effect):
        """Goes nowhere."""

        sweep = "steps"

    with pytest.raises(KeyError):
        Dispatcher(queues)([Stray()])
