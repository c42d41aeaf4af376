"""Why, or why not: each reason has its answer, recorded at the time or judged as of now."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from engine.audience import service as audience
from engine.audience.queries import ContactRow
from engine.automations import dates, service
from engine.automations.models import Automation
from engine.automations.queries.explaining import Explanation, explain
from engine.automations.service import Wish
from engine.core import events
from engine.core.clock import FixedClock
from engine.core.db import scope
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import accounts
from tests.factories import audience as people
from tests.factories import automations as make

DAY = timedelta(days=1)


class Desk:
    """One person, automations, and the question why."""

    def __init__(self, house: House, clock: FixedClock) -> None:
        self.house, self.clock = house, clock
        self.uow: UnitOfWork = house.runtime.uow
        with self.uow.begin() as session:
            self.workspace: int = accounts.workspace(session).id
            self.kim: ContactRow = people.contact(session, self.workspace, "kim@people.example")

    def live(self, **more: Any) -> str:
        with self.uow.begin() as session:
            raw = make.document(make.delay("wait", 2), **more)
            return make.live(session, self.workspace, raw, self.clock.now()).public_id

    def draft(self, **more: Any) -> str:
        with self.uow.begin() as session:
            raw = make.document(make.delay("wait"), **more)
            saved = service.create(session, self.workspace, raw, make.ACTOR, self.clock.now())
            assert isinstance(saved, service.Saved)
            return saved.public_id

    def fire(self, name: str = "go", **more: Any) -> None:
        with self.uow.begin() as session:
            make.fire(session, self.workspace, [self.kim], self.clock.now(), name, **more)

    def move(self, automation: str, to: str) -> None:
        with self.uow.begin() as session:
            wish, at = Wish(to), self.clock.now()
            service.move(session, self.workspace, automation, wish, make.ACTOR, at)

    def pass_days(self, days: float) -> None:
        self.clock.advance(DAY * days)
        self.house.steps.sweep()

    def why(self, automation: str) -> Explanation:
        with self.uow.read() as session:
            scope(session, self.workspace)
            found = explain(
                session, self.workspace, automation, self.kim.public_id, self.clock.now()
            )
        assert found is not None
        return found


@pytest.fixture
def desk(house: House, clock: FixedClock) -> Desk:
    """Return the desk."""
    return Desk(house, clock)


def inside(desk: Desk) -> str:
    automation = desk.live()
    desk.fire()
    return automation


def entered(desk: Desk) -> str:
    automation = inside(desk)
    desk.pass_days(3)
    return automation


def already_inside(desk: Desk) -> str:
    automation = inside(desk)
    desk.clock.advance(DAY)
    desk.fire()
    desk.pass_days(3)
    return automation


def entered_before(desk: Desk) -> str:
    automation = desk.live(reentry="once")
    desk.fire()
    desk.pass_days(3)
    desk.fire()
    return automation


def entered_lately(desk: Desk) -> str:
    automation = desk.live(reentry={"days": 30})
    desk.fire()
    desk.pass_days(3)
    desk.fire()
    return automation


def not_active(desk: Desk) -> str:
    automation = desk.live()
    desk.move(automation, "paused")
    desk.fire()
    desk.move(automation, "active")
    return automation


def before_activation(desk: Desk) -> str:
    automation = desk.live()
    desk.fire(occurred_at=desk.clock.now() - DAY)
    return automation


@pytest.mark.parametrize(
    ("arrange", "answer"),
    [
        (inside, "inside"),
        (entered, "entered"),
        (already_inside, "already_inside"),
        (entered_before, "entered_before"),
        (entered_lately, "entered_lately"),
        (not_active, "not_active"),
        (before_activation, "before_activation"),
    ],
)
def test_what_was_decided_is_told_from_what_was_recorded(
    desk: Desk, arrange: Callable[[Desk], str], answer: str
) -> None:
    found = desk.why(arrange(desk))
    assert (found.answer, found.recorded) == (answer, True)
    assert found.event is not None
    assert found.event.name == "go"


def nothing_happened(desk: Desk) -> str:
    return desk.live()


def another_event(desk: Desk) -> str:
    automation = desk.live()
    desk.fire("other")
    return automation


def paused(desk: Desk) -> str:
    automation = desk.live()
    desk.move(automation, "paused")
    return automation


def a_draft(desk: Desk) -> str:
    automation = desk.draft()
    desk.fire()
    return automation


def incomplete(desk: Desk) -> str:
    return desk.draft(trigger={"type": "event_received", "config": {}})


def activated_after_it(desk: Desk) -> str:
    desk.fire()
    desk.clock.advance(DAY)
    return desk.live()


def deleted(desk: Desk) -> str:
    automation = desk.draft()
    with desk.uow.begin() as session:
        service.remove(session, desk.workspace, automation, make.ACTOR, desk.clock.now())
    return automation


def started_nothing(desk: Desk) -> str:
    automation = desk.live()
    with desk.uow.begin() as session:
        quiet = events.NewEvent(
            desk.workspace, desk.kim.row_id, "event_received", "import", desk.clock.now(), "go",
            start_automations=False,
        )  # fmt: skip
        events.record(session, [quiet], desk.clock.now())
    return automation


@pytest.mark.parametrize(
    ("arrange", "answer"),
    [
        (nothing_happened, "no_event"),
        (another_event, "not_matching"),
        (paused, "paused"),
        (a_draft, "draft"),
        (activated_after_it, "before_activation"),
        (deleted, "deleted"),
        (started_nothing, "not_recorded"),
    ],
)
def test_what_nobody_recorded_is_judged_as_of_now(
    desk: Desk, arrange: Callable[[Desk], str], answer: str
) -> None:
    found = desk.why(arrange(desk))
    assert (found.answer, found.recorded) == (answer, False)


def test_the_checks_stand_in_the_order_in_which_they_are_asked(desk: Desk) -> None:
    found = desk.why(entered_lately(desk))
    assert [(check.name, check.verdict, check.code) for check in found.checks] == [
        ("active", "passes", "active"),
        ("event", "passes", "event"),
        ("matching", "passes", "matches"),
        ("activation", "passes", "after_activation"),
        ("inside", "passes", "not_inside"),
        ("reentry", "bars", "entered_lately"),
        ("mail", "passes", "reachable"),
    ]
    assert [each.reason for each in found.decisions] == ["entered_lately"]
    assert [run.status for run in found.past] == ["completed"]


def test_an_incomplete_trigger_is_said(desk: Desk) -> None:
    checks = {check.name: check.code for check in desk.why(incomplete(desk)).checks}
    assert checks["matching"] == "incomplete"


def test_re_entry_after_enough_days_bars_no_more(desk: Desk) -> None:
    automation = desk.live(reentry={"days": 2})
    desk.fire()
    desk.pass_days(3)
    checks = {check.name: (check.verdict, check.code) for check in desk.why(automation).checks}
    assert checks["reentry"] == ("passes", "long_ago")


def test_withheld_mail_is_mentioned_and_bars_nobody(desk: Desk) -> None:
    automation = inside(desk)
    with desk.uow.begin() as session:
        people.suppression(session, desk.workspace, "kim@people.example")
    found = desk.why(automation)
    assert (found.checks[-1].code, found.checks[-1].verdict) == ("suppressed", "informs")
    assert found.answer == "inside"


def test_a_person_who_opted_out_is_told(desk: Desk) -> None:
    automation = desk.live()
    with desk.uow.begin() as session:
        audience.opt_out(
            session, desk.workspace, desk.kim.public_id, "public_email_link", desk.clock.now()
        )
    assert desk.why(automation).checks[-1].code == "unsubscribed"


def test_what_is_unknown_or_foreign_is_not_explained(desk: Desk) -> None:
    automation = desk.live()
    with desk.uow.begin() as session:
        other = accounts.workspace(session, "Other").id
        theirs = people.contact(session, other).public_id
        row: Automation | None = service.find(session, desk.workspace, automation)
        assert row is not None
    at = desk.clock.now()
    with desk.uow.read() as session:
        assert explain(session, desk.workspace, automation, theirs, at) is None
        assert explain(session, other, automation, theirs, at) is None
        assert explain(session, desk.workspace, "x", desk.kim.public_id, at) is None


def test_a_day_that_has_come_is_told_for_its_own_automation_alone(desk: Desk) -> None:
    with desk.uow.begin() as session:
        people.custom_property(session, desk.workspace, "born", "instant")
        born = {"born": (desk.clock.now() + DAY).date().isoformat()}
        desk.kim = people.contact(session, desk.workspace, properties=born)
    on_the_day = {"type": "date_reached", "config": {"property_key": "born"}}
    week_later = {"type": "date_reached", "config": {"property_key": "born", "offset_days": 7}}
    first, second = desk.live(trigger=on_the_day), desk.live(trigger=week_later)
    dates.sweep(desk.uow)
    checks = {check.name: check.code for check in desk.why(first).checks}
    assert checks["fired"] == "not_fired"
    desk.clock.advance(DAY * 1.5)
    dates.sweep(desk.uow)
    found = desk.why(first)
    assert found.answer == "inside"
    assert {check.name: check.code for check in found.checks}["fired"] == "fired"
    other = desk.why(second)
    assert (other.answer, other.event) == ("not_matching", None)
    assert {check.name: check.code for check in other.checks}["fired"] == "not_fired"
