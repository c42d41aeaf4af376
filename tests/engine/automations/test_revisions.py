"""A revision that does not read is the trouble of its own automation alone (decision G4)."""

from typing import Any

import pytest
from sqlalchemy import delete, select, update

from engine.automations import revisions
from engine.automations.models import Automation, AutomationRevision
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def spoil(world: World, row: Automation, **changes: Any) -> None:
    """Change the first step of the frozen document behind everybody's back."""
    with world.uow.begin() as session:
        where = AutomationRevision.automation_id == row.id
        document = session.scalars(select(AutomationRevision.document).where(where)).one()
        steps = [{**document["steps"][0], **changes}, *document["steps"][1:]]
        session.execute(
            update(AutomationRevision).where(where).values(document={**document, "steps": steps})
        )
    # As a process that has just been started.
    revisions._GRAPHS._kept.clear()


@pytest.mark.parametrize(
    "changes",
    [{"type": "of_tomorrow"}, {"config": {"unheard": 1}}, {"next": "nowhere"}, {"config": None}],
)
def test_a_revision_that_does_not_read_stalls_nobody_else(
    world: World, changes: dict[str, Any]
) -> None:
    spoilt = world.live(make.delay("wait", 1), make.end("done"))
    world.fire()
    spoil(world, spoilt, **changes)
    sound = world.live(make.end("done"))
    # The spoilt one starts nobody any more, and the event is taken all the same.
    assert world.fire() == 1
    world.clock.advance(world.visits(spoilt)[0].due_at - world.clock.now())
    world.walker.sweep()
    assert world.run(sound).status == "completed"
    assert (world.run(spoilt).status, world.run(spoilt).ended_reason) == (
        "cancelled",
        "step_not_found",
    )
    with world.uow.read() as session:
        assert_books(session)


def test_a_revision_that_is_gone_stalls_nobody_else(world: World) -> None:
    bare = world.live(make.delay("wait", 1), make.end("done"))
    world.fire()
    # Made before, so that its revision does not get the number of the one that goes.
    sound = world.live(make.end("done"))
    with world.uow.begin() as session:
        session.execute(
            delete(AutomationRevision).where(AutomationRevision.automation_id == bare.id)
        )
    revisions._GRAPHS._kept.clear()
    assert world.fire() == 1
    world.clock.advance(world.visits(bare)[0].due_at - world.clock.now())
    world.walker.sweep()
    assert world.run(sound).status == "completed"
    assert world.run(bare).ended_reason == "step_not_found"
