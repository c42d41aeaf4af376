"""A wait that hears an event: who is woken by which event, and what becomes of the wait."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import pytest

from engine.automations import service
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import Completed, Outcome, Visit
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.engine.automations.test_races import together
from tests.factories import accounts, audience
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World
from tests.fakes.steps import Scripted

LIMIT: Final = timedelta(days=3)
MINUTE: Final = timedelta(minutes=1)
ROUNDS: Final = 5


class Listening(Scripted):
    """Waits for the event `paid`, or for the limit; notes what it heard."""

    def __init__(self) -> None:
        super().__init__(Completed())
        self.heard: list[Mapping[str, Any] | None] = []

    def entry_delay(self, config: Any) -> timedelta:
        """Wait to the limit."""
        return LIMIT

    def awaits(self, config: Any) -> str | None:
        """Name the event."""
        return "paid"

    def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Mapping[int, Outcome]:
        """Note what ended the wait."""
        self.heard += [visit.heard for visit in visits]
        return super().run(visits, facts)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=2)


@pytest.fixture
def kind(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    """Put a listening kind in the place of `end`."""
    kind = Listening()
    monkeypatch.setitem(STEPS._kinds, "end", kind)
    yield kind
    with world.uow.read() as session:
        assert_books(session)


@pytest.fixture
def waiting(world: World, kind: Listening) -> Automation:
    """Return an automation in which everybody has been waiting for a minute."""
    automation = world.live(make.end("pay"), make.delay("later"))
    world.fire()
    world.walker.sweep()
    world.clock.advance(MINUTE)
    return automation


def tell(world: World, name: str, who: int = 0, at: datetime | None = None, **data: Any) -> None:
    """Record an event of one person."""
    with world.uow.begin() as session:
        people = [world.people[who]]
        make.fire(session, world.workspace_id, people, world.clock.now(), name, at, **data)


def statuses(world: World, automation: Automation) -> list[str]:
    """Return the status of each person's visit to `pay`."""
    with world.uow.read() as session:
        runs = make.runs(session, automation)
        return [make.visits(session, run)[0].status for run in runs]


def test_the_awaited_event_ends_the_wait_of_that_person_at_once(
    world: World, kind: Listening, waiting: Automation
) -> None:
    assert world.run(waiting).next_step_at is not None
    tell(world, "paid", amount=5)
    visit, run = world.visits(waiting)[0], world.run(waiting)
    assert (visit.status, visit.due_at, run.next_step_at) == ("pending", world.clock.now(), None)
    world.walker.walk([visit.id])
    assert statuses(world, waiting) == ["completed", "pending"]
    [heard] = kind.heard
    assert heard is not None
    assert heard["event"].startswith("evt_")
    assert (heard["name"], heard["properties"]) == ("paid", {"amount": 5})
    assert world.log(waiting) == [("pay", "completed"), ("later", "pending")]


def test_nothing_else_ends_it(world: World, waiting: Automation) -> None:
    tell(world, "go")
    tell(world, "Paid")
    tell(world, "paid", at=world.run(waiting).started_at - MINUTE)
    with world.uow.begin() as session:
        elsewhere = accounts.workspace(session).id
        stranger = audience.contact(session, elsewhere)
        make.fire(session, elsewhere, [stranger], world.clock.now(), "paid")
    world.walker.sweep()
    assert statuses(world, waiting) == ["pending", "pending"]


def test_the_event_that_began_the_run_is_not_the_one_it_waits_for(
    world: World, kind: Listening
) -> None:
    trigger = {"type": "event_received", "config": {"event_name": "paid"}}
    with world.uow.begin() as session:
        raw = make.document(make.end("pay"), trigger=trigger)
        automation = make.live(session, world.workspace_id, raw, world.clock.now())
    for status in ("pending", "completed"):
        tell(world, "paid")
        world.walker.sweep()
        assert statuses(world, automation) == [status]


def test_without_the_event_the_limit_ends_the_wait_and_the_event_comes_too_late(
    world: World, kind: Listening, waiting: Automation
) -> None:
    world.clock.advance(LIMIT)
    world.walker.sweep()
    tell(world, "paid")
    world.walker.sweep()
    assert kind.heard == [None, None]
    assert world.visits(waiting)[0].heard is None


def test_the_first_of_several_events_is_the_one_that_was_heard(
    world: World, kind: Listening, waiting: Automation
) -> None:
    with world.uow.begin() as session:
        at = world.clock.now()
        people = [world.people[0]] * 2
        make.fire(session, world.workspace_id, people, at, "paid", turn=1)
    tell(world, "paid", turn=2)
    world.walker.sweep()
    assert [heard and heard["properties"] for heard in kind.heard] == [{"turn": 1}]


@pytest.mark.parametrize("choice", ["shift", "overdue"])
def test_who_heard_during_a_pause_on_hold_goes_on_with_the_resume(
    world: World, kind: Listening, choice: str
) -> None:
    with world.uow.begin() as session:
        raw = make.document(make.end("pay"), make.delay("later"), on_pause="hold")
        automation = make.live(session, world.workspace_id, raw, world.clock.now())
    world.fire()
    switch(world, automation, service.Wish("paused"))
    world.clock.advance(MINUTE)
    tell(world, "paid")
    world.walker.sweep()
    assert statuses(world, automation) == ["pending", "pending"]
    world.clock.advance(MINUTE)
    switch(world, automation, service.Wish("active", resume=choice))
    world.walker.sweep()
    assert statuses(world, automation) == ["completed", "pending"]
    assert len(kind.heard) == 1


def switch(world: World, automation: Automation, wish: service.Wish) -> None:
    with world.uow.begin() as session:
        place = (session, world.workspace_id, automation.public_id)
        service.move(*place, wish, make.ACTOR, world.clock.now())


def test_who_is_moved_to_a_step_that_listens_hears_as_well(world: World, kind: Listening) -> None:
    automation = world.live(make.delay("pay", 9), make.delay("later"))
    world.fire()
    world.walker.sweep()
    with world.uow.begin() as session:
        at, place = world.clock.now(), (session, world.workspace_id, automation.public_id)
        raw = make.document(make.end("pay"), make.delay("later"))
        saved = service.save(*place, raw, automation.draft_version, make.ACTOR, at)
        assert isinstance(saved, service.Saved)
        service.publish(*place, "move", make.ACTOR, at)
    assert statuses(world, automation) == ["pending", "pending"]
    world.clock.advance(MINUTE)
    tell(world, "paid")
    world.walker.sweep()
    assert statuses(world, automation) == ["completed", "pending"]


def test_who_has_heard_goes_on_though_a_publish_makes_the_others_wait_anew(
    world: World, kind: Listening
) -> None:
    automation = world.live(make.end("pay"), make.delay("later"))
    world.fire()
    world.clock.advance(MINUTE)
    tell(world, "paid")
    with world.uow.begin() as session:
        at, place = world.clock.now(), (session, world.workspace_id, automation.public_id)
        raw = make.document(make.delay("pay", 9), make.delay("later"))
        saved = service.save(*place, raw, automation.draft_version, make.ACTOR, at)
        assert isinstance(saved, service.Saved)
        service.publish(*place, "move", make.ACTOR, at)
    world.walker.sweep()
    assert statuses(world, automation) == ["completed", "pending"]


def test_an_event_a_worker_and_a_resume_at_the_same_instant_lose_nobody(
    world: World, kind: Listening
) -> None:
    with world.uow.begin() as session:
        raw = make.document(make.end("pay"), on_pause="hold", reentry="after_end")
        automation = make.live(session, world.workspace_id, raw, world.clock.now())
    for number in range(1, ROUNDS + 1):
        world.fire()
        switch(world, automation, service.Wish("paused"))
        world.clock.advance(MINUTE)
        resumed = service.Wish("active", resume="shift")
        together(
            partial(tell, world, "paid", 0),
            partial(tell, world, "paid", 1),
            partial(switch, world, automation, resumed),
            world.walker.sweep,
        )
        world.walker.sweep()
        world.clock.advance(MINUTE)
        world.walker.sweep()
        assert statuses(world, automation) == ["completed"] * (2 * number)
    assert len(kind.heard) == 2 * ROUNDS
    assert None not in kind.heard
