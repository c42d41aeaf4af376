"""The rollup copies the sums of the shards, and writes only where they changed."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import insert, select, update

from engine.automations import rollup, service
from engine.automations.models import Automation, AutomationStatShard
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.world import World


def figures(uow: UnitOfWork, automation: Automation) -> tuple[int, int, int]:
    row = Automation
    with uow.read() as session:
        found = session.execute(
            select(row.stats_entered, row.stats_active, row.stats_completed).where(
                row.id == automation.id
            )
        ).one()
    return found[0], found[1], found[2]


def add(uow: UnitOfWork, automation: Automation, shard: int, **counts: int) -> None:
    values: Mapping[str, Any] = {
        "workspace_id": automation.workspace_id,
        "automation_id": automation.id,
        "shard": shard,
        **counts,
    }
    with uow.begin() as session:
        session.execute(insert(AutomationStatShard).values(values))


def test_the_sums_of_what_happened_stand_in_the_automation(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=5)
    automation = world.live(make.branch("ask", yes="end"), make.delay("wait"))
    world.fire()
    world.walker.sweep()
    assert figures(uow, automation) == (0, 0, 0)
    assert rollup.sweep(uow) == {"automations": 1}
    assert figures(uow, automation) == (5, 2, 3)


def test_only_what_changed_is_written(uow: UnitOfWork, clock: FixedClock) -> None:
    world = World(uow, clock)
    first, second = world.live(make.delay("wait")), world.live(make.delay("wait"))
    add(uow, first, 20, entered=3, completed=1, cancelled=1)
    add(uow, first, 21, entered=2)
    add(uow, second, 20, entered=1)
    assert rollup.sweep(uow) == {"automations": 2}
    assert rollup.sweep(uow) == {"automations": 0}
    add(uow, second, 21, entered=1, completed=1)
    assert rollup.sweep(uow) == {"automations": 1}
    assert figures(uow, first) == (5, 3, 1)
    assert figures(uow, second) == (2, 1, 1)


def test_nobody_is_inside_below_zero(uow: UnitOfWork, clock: FixedClock) -> None:
    automation = World(uow, clock).live(make.delay("wait"))
    add(uow, automation, 20, entered=1, completed=2, cancelled=2)
    rollup.sweep(uow)
    assert figures(uow, automation) == (1, 0, 2)


def test_a_draft_is_left_alone(uow: UnitOfWork, clock: FixedClock) -> None:
    world = World(uow, clock)
    automation = world.live(make.delay("wait"))
    add(uow, automation, 20, entered=4)
    with uow.begin() as session:
        for status in ("paused", "draft"):
            service.move(
                session,
                world.workspace_id,
                automation.public_id,
                service.Wish(status),
                make.ACTOR,
                clock.now(),
            )
    assert rollup.sweep(uow) == {"automations": 0}
    assert figures(uow, automation) == (0, 0, 0)


def test_every_batch_is_written_and_no_page_is_counted_twice(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock)
    several = [world.live(make.delay("wait")) for _ in range(5)]
    for number, automation in enumerate(several, 1):
        add(uow, automation, 20, entered=number)
    assert rollup.sweep(uow, batch=2) == {"automations": 5}
    assert [figures(uow, each) for each in several] == [(n, n, 0) for n in range(1, 6)]


def test_nothing_else_of_an_automation_changes(uow: UnitOfWork, clock: FixedClock) -> None:
    automation = World(uow, clock).live(make.delay("wait"))
    add(uow, automation, 20, entered=4)
    with uow.begin() as session:
        session.execute(update(Automation).values(stats_entered=7))
        before = session.scalars(select(Automation.updated_at)).one()
    rollup.sweep(uow)
    with uow.read() as session:
        assert session.scalars(select(Automation.updated_at)).one() == before
    assert figures(uow, automation) == (4, 4, 0)
