"""Waiting for an event, at most so long, and for an hour of the person's own."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from engine.audience.inputs import ContactPatch
from engine.audience.service import update_contact
from engine.automations import checking
from engine.automations.document import Document, read_document
from engine.automations.models import Automation, AutomationStepRun
from engine.core.clock import FixedClock
from engine.core.outcome import Problem, Refused
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import EmailSend
from tests.factories import automations as make
from tests.factories import delivery
from tests.factories.books import assert_books
from tests.factories.world import World

DAY = timedelta(days=1)


def until(key: str = "wait", **config: Any) -> dict[str, Any]:
    return {"key": key, "type": "wait_until", "config": config}


def event(name: str = "paid", days: float = 3, **more: Any) -> dict[str, Any]:
    return until(event_name=name, limit_duration=days, limit_unit="days", **more)


def hours(weekdays: list[int], opens: str = "10:00", closes: str | None = "17:00") -> Any:
    return until(mode="window", weekdays=weekdays, opens=opens, closes=closes)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def tell(world: World, name: str, **data: Any) -> None:
    with world.uow.begin() as session:
        make.fire(session, world.workspace_id, world.people, world.clock.now(), name, **data)


def waiting(world: World, automation: Automation) -> AutomationStepRun:
    return world.visits(automation)[-1]


WAYS = (event(heard="heard", late="late"), make.end("heard"), make.end("late"))


def test_whoever_does_it_in_time_goes_on_at_once(world: World) -> None:
    automation = world.live(*WAYS)
    world.fire()
    world.clock.advance(DAY)
    tell(world, "paid", sum=12)
    world.walker.sweep()
    first, last, *_passed = world.visits(automation)
    assert (last.step_key, world.run(automation).status) == ("heard", "completed")
    assert first.result is not None
    assert (first.result["event"], first.result["branch"]) == ("paid", "heard")
    assert first.heard is not None
    assert first.heard["properties"] == {"sum": 12}
    assert first.completed_at == world.clock.now()
    with world.uow.read() as session:
        assert_books(session)


def test_whoever_does_not_goes_on_by_the_other_way_at_the_limit(world: World) -> None:
    automation = world.live(*WAYS)
    world.fire()
    tell(world, "looked")
    world.clock.advance(3 * DAY - timedelta(seconds=1))
    world.walker.sweep()
    assert waiting(world, automation).status == "pending"
    world.clock.advance(timedelta(seconds=1))
    world.walker.sweep()
    ways = [(v.step_key, v.status) for v in world.visits(automation) if v.status == "completed"]
    assert ways == [("wait", "completed"), ("late", "completed")]
    assert world.visits(automation)[0].result == {"event": "paid", "branch": "late"}


def test_an_event_before_the_wait_is_not_heard(world: World) -> None:
    automation = world.live(*WAYS)
    tell(world, "paid")
    world.clock.advance(DAY)
    world.fire()
    world.walker.sweep()
    assert waiting(world, automation).status == "pending"


def test_a_window_puts_the_visit_off_until_it_opens(world: World) -> None:
    world.clock.advance(datetime(2026, 12, 5, 12, tzinfo=UTC) - world.clock.now())
    automation = world.live(hours([1, 2, 3, 4]), make.end("done"))
    world.fire()
    world.walker.sweep()
    [visit] = world.visits(automation)
    assert (visit.status, visit.attempt % 1_000) == ("pending", 0)
    # Saturday in a workspace that lives in UTC: Monday at ten.
    assert visit.due_at == datetime(2026, 12, 7, 10, tzinfo=UTC)
    world.clock.advance(visit.due_at - world.clock.now())
    world.walker.sweep()
    [done, _end] = world.visits(automation)
    assert (done.id, done.status) == (visit.id, "completed")
    assert (done.result or {})["zone"] == "UTC"


def test_the_zone_of_the_person_goes_before_that_of_the_workspace(world: World) -> None:
    world.clock.advance(datetime(2026, 12, 7, 9, tzinfo=UTC) - world.clock.now())
    with world.uow.begin() as session:
        person, at = world.people[0].public_id, world.clock.now()
        patch = ContactPatch({"timezone": "America/New_York"})
        done = update_contact(session, world.workspace_id, person, patch, "console", at)
        assert not isinstance(done, Refused)
    automation = world.live(hours([1]), make.end("done"))
    world.fire()
    world.walker.sweep()
    assert waiting(world, automation).due_at == datetime(2026, 12, 7, 15, tzinfo=UTC)


def test_dup_05_two_days_and_a_window_are_one_visit_and_one_mail(world: World) -> None:
    with world.uow.begin() as session:
        delivery.sender(session, world.workspace_id)
        template = delivery.template(session, world.workspace_id).public_id
    # Wednesday; two days later is Friday, and the window is Monday to Thursday.
    world.clock.advance(datetime(2026, 12, 2, 10, tzinfo=UTC) - world.clock.now())
    automation = world.live(
        make.delay("days", 2), hours([1, 2, 3, 4]), make.email("mail", template)
    )
    world.fire()
    for _ in range(8 * 24):
        world.walker.sweep()
        world.clock.advance(timedelta(hours=1))
    visits = world.visits(automation)
    assert [visit.step_key for visit in visits] == ["days", "wait", "mail"]
    assert visits[-1].completed_at == datetime(2026, 12, 7, 10, tzinfo=UTC)
    with world.uow.read() as session:
        [queued] = session.scalars(select(EmailSend.queued_at)).all()
        assert queued == visits[-1].completed_at
        assert_books(session)


def test_check_finds_what_is_not_filled_in(world: World) -> None:
    steps = [
        until("a"),
        event(days=4_000) | {"key": "b"},
        hours([]) | {"key": "c"},
        hours([1], "10:00", "10:00") | {"key": "d"},
        hours([1], closes=None) | {"key": "e"},
    ]
    document = read_document(make.document(*steps))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        found = checking.errors(session, world.workspace_id, document)
    assert found == [
        Problem("/steps/0/config/event_name", "event_missing"),
        Problem("/steps/0/config/limit_duration", "limit_missing"),
        Problem("/steps/1/config/limit_duration", "delay_too_long"),
        Problem("/steps/2/config/weekdays", "weekdays_missing"),
        Problem("/steps/3/config/closes", "window_closed"),
    ]


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"mode": "dream"}, "mode"),
        ({"weekdays": [0]}, "weekdays/0"),
        ({"opens": "24:00"}, "opens"),
        ({"closes": "9:00"}, "closes"),
        ({"limit_duration": 0}, "limit_duration"),
    ],
)
def test_what_means_nothing_is_refused_on_save(config: dict[str, Any], field: str) -> None:
    refused = read_document(make.document(until(**config)))
    assert isinstance(refused, Refused)
    assert [problem.pointer for problem in refused.problems] == [f"/steps/0/config/{field}"]
