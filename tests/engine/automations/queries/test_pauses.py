"""Who paused an automation and what failed last, also where much else happened (decision A12)."""

from datetime import timedelta

import pytest

from engine.automations import queries, service
from engine.automations.queries import AutomationRow
from engine.core import audit
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import automations as make
from tests.factories.breaking import broken
from tests.factories.world import World


@pytest.fixture
def workspace_id(uow: UnitOfWork) -> int:
    with uow.begin() as session:
        return accounts.workspace(session).id


def row(uow: UnitOfWork, workspace_id: int, public_id: str) -> AutomationRow:
    with uow.read() as session:
        found = queries.get_automation(session, workspace_id, public_id)
    assert found is not None
    return found.row


def paused_by(uow: UnitOfWork, workspace_id: int, public_id: str) -> str | None:
    with uow.read(workspace_id) as session:
        return queries.paused_by(session, workspace_id, row(uow, workspace_id, public_id))


def test_the_breaker_is_named_with_the_last_five_errors(
    uow: UnitOfWork, clock: FixedClock, workspace_id: int
) -> None:
    automation, people = broken(uow, clock, workspace_id, people=6)
    actor = paused_by(uow, workspace_id, automation.public_id)
    assert actor == "system:automation-breaker"
    assert queries.is_breaker(actor)
    with uow.read(workspace_id) as session:
        found = queries.last_failures(session, workspace_id, automation.id)
    # Five failures in a row pause it, so the sixth person never came in.
    assert [each.contact_id for each in found] == [p.public_id for p in reversed(people[:5])]
    assert {(each.step_key, each.code, each.message) for each in found} == {
        ("mail", "NO_ADDRESS", "Contact has no email address")
    }
    assert found[0].contact_name == "No4"
    assert found == sorted(found, key=lambda each: each.at, reverse=True)


def test_a_person_is_named_and_a_second_press_changes_nothing(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock)
    automation = world.live(make.delay("wait"))
    for name in ("user:first", "user:second"):
        with uow.begin() as session:
            service.move(
                session,
                world.workspace_id,
                automation.public_id,
                service.Wish("paused"),
                audit.Actor(name),
                clock.now(),
            )
    assert paused_by(uow, world.workspace_id, automation.public_id) == "user:first"
    clock.advance(timedelta(minutes=1))
    with uow.begin() as session:
        wish = service.Wish("active")
        service.move(
            session, world.workspace_id, automation.public_id, wish, make.ACTOR, clock.now()
        )
    assert paused_by(uow, world.workspace_id, automation.public_id) is None


def test_runs_that_ended_for_another_reason_are_no_errors(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, people=3)
    automation = world.live(make.delay("wait"))
    world.fire()
    with uow.begin() as session:
        wish = service.Wish("paused")
        service.move(
            session, world.workspace_id, automation.public_id, wish, make.ACTOR, clock.now()
        )
    clock.advance(timedelta(days=1))
    world.walker.sweep()
    with uow.read() as session:
        assert queries.tallies(session, world.workspace_id, [automation.id]) == {
            automation.id: queries.Tally(entered=3, cancelled=3)
        }
        assert queries.last_failures(session, world.workspace_id, automation.id) == []


def test_the_newest_failures_are_told_up_to_a_limit(
    uow: UnitOfWork, clock: FixedClock, workspace_id: int
) -> None:
    automation, people = broken(uow, clock, workspace_id, people=3)
    with uow.read() as session:
        found = queries.last_failures(session, workspace_id, automation.id, limit=2)
        other = accounts.workspace(session).id
        assert queries.last_failures(session, other, automation.id) == []
    assert [each.contact_id for each in found] == [p.public_id for p in (people[2], people[1])]
