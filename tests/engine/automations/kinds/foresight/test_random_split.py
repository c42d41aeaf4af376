"""The way that chance would send somebody: the person's own, or the one that was chosen."""

import pytest

from engine.automations.document import Document, read_document
from engine.automations.kinds.steps.random_split import RandomSplitConfig, way
from engine.automations.simulating import Simulation, Trial, simulate
from engine.automations.somebody import of_contact
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.delivery import LINKS
from tests.factories.world import World

STEPS = (
    {"key": "split", "type": "random_split", "config": {"a": "left", "b": "right"}},
    make.end("left"),
    make.end("right"),
)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=4)


def simulated(world: World, person: str, choices: dict[str, str]) -> Simulation:
    document = read_document(make.document(*STEPS))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        who = of_contact(session, world.workspace_id, person)
        assert who is not None
        trial = Trial("A1", document, who, world.clock.now(), {}, choices)
        return simulate(session, world.workspace_id, trial, LINKS)


def test_a_real_person_takes_the_way_that_a_run_would_take(world: World) -> None:
    for person in world.people:
        split, last = simulated(world, person.public_id, {}).visits
        chosen = simulated(world, person.public_id, {"split": "own"}).visits
        assert chosen == (split, last)
        own = way(RandomSplitConfig(), "A1", "split", person.public_id)
        assert (split.branch, split.taken) == (own, "own")
        assert last.key == {"a": "left", "b": "right"}[own]


@pytest.mark.parametrize(("chosen", "last"), [("a", "left"), ("b", "right")])
def test_a_way_that_was_chosen_is_taken(world: World, chosen: str, last: str) -> None:
    found = simulated(world, world.people[0].public_id, {"split": chosen})
    assert [visit.key for visit in found.visits] == ["split", last]
    assert found.visits[0].result == {"branch": chosen, "share": 50}
