"""How long somebody would wait for an event or an hour, on the virtual clock."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.automations.document import Document, read_document
from engine.automations.simulating import SimulatedVisit, Simulation, Trial, simulate
from engine.automations.somebody import of_contact
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.delivery import LINKS
from tests.factories.world import World

EVENT = {"event_name": "paid", "limit_duration": 3, "limit_unit": "days"}
# A Saturday.
AT = datetime(2026, 12, 5, 12, tzinfo=UTC)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def simulated(world: World, config: dict[str, Any], choice: str | None = None) -> Simulation:
    wait = {"key": "wait", "type": "wait_until", "config": config}
    document = read_document(make.document(wait, make.end("next"), make.end("late")))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        who = of_contact(session, world.workspace_id, world.people[0].public_id)
        assert who is not None
        choices = {} if choice is None else {"wait": choice}
        trial = Trial("A1", document, who, AT, {}, choices)
        return simulate(session, world.workspace_id, trial, LINKS)


def waited(found: Simulation) -> tuple[SimulatedVisit, timedelta]:
    visit = found.visits[0]
    return visit, visit.leaves - visit.arrives


def test_the_event_is_waited_for_in_vain_unless_it_is_chosen(world: World) -> None:
    late, took = waited(simulated(world, {"late": "late", **EVENT}))
    assert (late.branch, late.taken, took) == ("late", "late", timedelta(days=3))
    heard, took = waited(simulated(world, {"late": "late", **EVENT}, "heard"))
    assert (heard.branch, heard.taken, took) == ("heard", "heard", timedelta(0))
    assert heard.choices == ("late", "heard")


def test_an_hour_is_waited_for_until_it_comes(world: World) -> None:
    monday = {"mode": "window", "weekdays": [1], "opens": "10:00"}
    visit, took = waited(simulated(world, monday))
    assert (visit.choices, visit.result) == ((), {"zone": "UTC"})
    assert AT + took == datetime(2026, 12, 7, 10, tzinfo=UTC)
    open_now, took = waited(simulated(world, {"mode": "window", "weekdays": [6]}))
    assert (open_now.result, took) == ({"zone": "UTC"}, timedelta(0))


def test_a_window_that_never_opens_ends_the_way(world: World) -> None:
    found = simulated(world, {"mode": "window", "weekdays": []})
    assert found.ended == "step_failed"
    assert found.visits[0].error is not None
    assert found.visits[0].error.code == "WINDOW_NEVER_OPENS"


def test_a_wait_that_is_not_finished_says_so(world: World) -> None:
    assert simulated(world, {}).ended == "step_failed"
