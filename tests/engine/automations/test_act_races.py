"""A person's act at the very instant at which a worker or somebody else is at the run."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from engine.automations import service
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.engine.automations.test_races import together
from tests.factories import automations as make
from tests.factories.acting import books, breaking, broken, mend
from tests.factories.pausing import move
from tests.factories.world import World

PEOPLE = 40
ROUNDS = 3


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, PEOPLE)


def ids(world: World, row: Automation) -> list[int]:
    with world.uow.read() as session:
        return [run.id for run in make.runs(session, row)]


def acting(world: World, row: Automation, action: str, step: str | None = None) -> Counter[str]:
    """Do the same to every run; return what came of it, by word."""
    wanted = service.RunAct(action, step)
    with world.uow.begin() as session:
        done = service.act_many(
            session, world.workspace_id, ids(world, row), wanted, make.ACTOR, world.clock.now()
        )
    return Counter(
        answer.reason if isinstance(answer, Refused) else "done" for answer in done.values()
    )


def standing(world: World, row: Automation) -> Counter[tuple[str, str | None]]:
    with world.uow.read() as session:
        return Counter((run.status, run.ended_reason) for run in make.runs(session, row))


def visits_of(world: World, row: Automation) -> list[list[tuple[str, str]]]:
    with world.uow.read() as session:
        return [
            [(visit.step_key, visit.status) for visit in make.visits(session, run)]
            for run in make.runs(session, row)
        ]


@pytest.mark.parametrize("action", ["skip-step", "move", "cancel"])
def test_an_act_and_a_worker_at_the_same_instant_move_each_run_once(
    world: World, action: str
) -> None:
    step = "last" if action == "move" else None
    for _round in range(ROUNDS):
        row = world.walk_once(make.delay("wait", 1), make.branch("who"), make.delay("last", 9))
        world.clock.advance(timedelta(days=1))
        told: list[Counter[str]] = []
        act = partial(acting, world, row, action, step)
        together(partial(_tell, told, act), world.walker.sweep)
        world.walker.sweep()
        books(world)
        for visits in visits_of(world, row):
            keys = [key for key, _status in visits]
            assert keys[0] == "wait"
            assert keys.count("wait") == 1
        ended = standing(world, row)
        # Whoever was acted on has ended by it, and nobody else; a busy one was refused and went on.
        if action == "cancel":
            assert ended == Counter({("cancelled", "ended_by_person"): PEOPLE})
            assert told == [Counter(done=PEOPLE)]
        else:
            assert ended == Counter({("running", None): PEOPLE})
            assert set(told[0]) <= {"done", "being_executed"}


def test_two_people_who_retry_the_same_runs_revive_each_once(world: World) -> None:
    row = broken(world)
    mend(world)
    told: list[Counter[str]] = []
    together(*[lambda: told.append(acting(world, row, "retry"))] * 2)
    books(world)
    assert sum(each["done"] for each in told) == PEOPLE
    assert standing(world, row) == Counter({("running", None): PEOPLE})
    assert all(len(visits) == 2 for visits in visits_of(world, row))


def test_a_retry_and_an_entry_at_the_same_instant_leave_one_run_inside(world: World) -> None:
    row = broken(world)
    mend(world)
    old = set(ids(world, row))
    told: list[Counter[str]] = []
    together(lambda: told.append(acting(world, row, "retry")), world.fire)
    books(world)
    with world.uow.read() as session:
        runs = make.runs(session, row)
    inside = Counter(run.contact_id for run in runs if run.status == "running")
    assert set(inside.values()) == {1}
    assert len(inside) == PEOPLE
    revived = [run for run in runs if run.id in old and run.status == "running"]
    assert len(revived) == told[0]["done"]


@pytest.mark.parametrize("action", ["retry", "skip-step", "cancel"])
def test_an_act_and_a_pause_at_the_same_instant_agree(world: World, action: str) -> None:
    for number in range(ROUNDS):
        row = broken(world, make.delay("later", 2)) if action == "retry" else _waiting(world)
        mend(world)
        stop = service.Wish("paused", cancel_inside=number % 2 == 0)
        together(partial(acting, world, row, action), partial(move, world, row, stop))
        world.walker.sweep()
        books(world)
        mend(world)
        world.walker.sweep()
        books(world)
        assert standing(world, row).total() == PEOPLE


def _tell(told: list[Counter[str]], act: Callable[[], Counter[str]]) -> None:
    told.append(act())


def _waiting(world: World) -> Automation:
    return world.walk_once(make.delay("wait", 1), make.delay("last", 9))


def test_an_act_while_a_worker_is_at_the_step_waits_for_nobody(world: World) -> None:
    row = breaking(world, make.delay("later", 2))
    world.fire()
    items = world.walker.claim(None, PEOPLE)
    assert acting(world, row, "skip-step") == Counter(being_executed=PEOPLE)
    assert acting(world, row, "retry") == Counter(being_executed=PEOPLE)
    assert acting(world, row, "cancel") == Counter(done=PEOPLE)
    world.walker.settle(items, world.walker.run(items))
    books(world)
    assert standing(world, row) == Counter({("cancelled", "ended_by_person"): PEOPLE})
