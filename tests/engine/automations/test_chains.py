"""Automations that start each other come to an end, however they are entangled."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from engine.audience import service as audience
from engine.audience.inputs import ContactPatch
from engine.automations import chains
from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.core.clock import FixedClock
from engine.core.events import Event
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as make
from tests.factories.world import World

HOUR = timedelta(hours=1)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    made = World(uow, clock)
    with uow.begin() as session:
        people.custom_property(session, made.workspace_id, "ball")
    return made


def player(world: World, has: str, gives: str, *waits: dict[str, Any]) -> Automation:
    """Return an automation that passes the ball back where it is `has`, after some waits."""
    rule = {"kind": "contact_property", "field": "ball", "operator": "equals", "value": has}
    ask = {"key": "ask", "type": "condition", "config": {"condition": rule, "no": "end"}}
    give = {"key": "give", "type": "update_contact", "config": {"changes": {"ball": gives}}}
    trigger = {"type": "contact_updated", "config": {"property_key": "ball"}}
    with world.uow.begin() as session:
        raw = make.document(*waits, ask, give, name=has, trigger=trigger)
        return make.live(session, world.workspace_id, raw, world.clock.now())


def serve(world: World) -> None:
    """Let a person begin the game."""
    patch = ContactPatch(properties={"ball": "ping"})
    with world.uow.begin() as session:
        audience.update_contacts(
            session, world.workspace_id, {world.people[0].row_id: patch}, "console",
            world.clock.now(),
        )  # fmt: skip


def passes(world: World) -> int:
    """Return how often the ball was passed by automations."""
    with world.uow.read() as session:
        return (
            session.scalar(
                select(func.count()).select_from(Event).where(Event.source == "automation")
            )
            or 0
        )


def test_two_automations_that_set_a_property_back_and_forth_come_to_an_end(world: World) -> None:
    player(world, "ping", "pong")
    player(world, "pong", "ping")
    serve(world)
    world.walker.sweep()
    assert passes(world) == chains.LONGEST + 1
    assert world.walker.sweep()["walked"] == 0
    with world.uow.read() as session:
        assert set(session.scalars(select(AutomationRun.status))) == {"completed"}
        newest = select(AutomationStepRun).order_by(AutomationStepRun.id.desc())
        given = [row for row in session.scalars(newest) if row.step_key == "give" and row.result]
    reasons = [(row.result or {}).get("reason") for row in given]
    assert reasons == ["chain_ended"] + [None] * chains.LONGEST


def test_a_person_may_begin_the_game_again(world: World) -> None:
    player(world, "ping", "pong")
    player(world, "pong", "ping")
    for _game in range(2):
        serve(world)
        world.walker.sweep()
        with world.uow.begin() as session:
            patch = ContactPatch(properties={"ball": None})
            audience.update_contacts(
                session, world.workspace_id, {world.people[0].row_id: patch}, "console",
                world.clock.now(),
            )  # fmt: skip
        world.walker.sweep()
    assert passes(world) == 2 * (chains.LONGEST + 1)


def test_what_takes_an_hour_from_one_to_the_next_goes_on_for_ever(world: World) -> None:
    wait = make.delay("wait", 1, "hours")
    player(world, "ping", "pong", wait)
    player(world, "pong", "ping", wait)
    serve(world)
    for _hour in range(3 * chains.LONGEST):
        world.clock.advance(HOUR)
        world.walker.sweep()
    assert passes(world) == 3 * chains.LONGEST


def test_topics_count_as_properties_do(world: World) -> None:
    at = world.clock.now()
    with world.uow.begin() as session:
        names = ("Here", "There")
        here, there = (people.topic(session, world.workspace_id, name).public_id for name in names)
        for come, go in ((here, there), (there, here)):
            steps = [
                {"key": action, "type": "topic", "config": {"topic_id": topic, "action": action}}
                for topic, action in ((come, "unsubscribe"), (go, "subscribe"))
            ]
            trigger = {"type": "topic_subscribed", "config": {"topic_id": come}}
            make.live(session, world.workspace_id, make.document(*steps, trigger=trigger), at)
        audience.subscribe(session, world.workspace_id, here, world.people[0].public_id, "api", at)
    world.walker.sweep()
    with world.uow.read() as session:
        runs = session.scalars(select(AutomationRun.status)).all()
    assert len(runs) == chains.LONGEST + 1
    assert set(runs) == {"completed"}


def test_the_cause_stands_in_the_event_and_not_in_what_people_read(world: World) -> None:
    automation = player(world, "ping", "pong")
    serve(world)
    world.walker.sweep()
    with world.uow.read() as session:
        caused = session.scalars(select(Event).where(Event.source == "automation")).one()
        runs = make.runs(session, automation)
    at: datetime = world.clock.now()
    assert caused.data["cause"] == {"links": 1, "since": at.isoformat()}
    assert {tuple(run.trigger_data or {}) for run in runs} == {("property_key",)}
