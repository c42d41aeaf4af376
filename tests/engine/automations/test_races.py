"""Several workers at once, and what operators and clocks do to waiting people."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from sqlalchemy import func, select

from engine.automations import service
from engine.automations.models import AutomationRun
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.outcome import Transitioned
from engine.delivery.models import EmailSend
from engine.delivery.walker import SendWalker
from engine.house import House
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.fakes.dispatch import RecordingDispatch
from tests.fakes.transports import ScriptedTransport

ROUNDS: Final = 20
# Before any time of a hint.
NOW: Final = datetime(2000, 1, 1, tzinfo=UTC)
PEOPLE: Final = 200


class Crowd:
    """One workspace with many people and two workers that share nothing but the database."""

    def __init__(self, house: House, clock: FixedClock, people: int) -> None:
        self.uow, self.clock = house.runtime.uow, clock
        self.transport = ScriptedTransport()
        links = house.sends.links
        rates = {"transactional": 10_000}
        self.steps = [StepWalker(self.uow) for _ in range(2)]
        self.sends = [SendWalker(self.uow, self.transport, links, rates) for _ in range(2)]
        with self.uow.begin() as session:
            self.workspace = accounts.workspace(session).id
            delivery.sender(session, self.workspace)
            self.template = delivery.template(session, self.workspace, allow_repeat=True).public_id
            self.people = [audience.contact(session, self.workspace) for _ in range(people)]

    def live(self, *steps: dict[str, Any], **more: Any) -> str:
        """Make a live automation; return its public id."""
        with self.uow.begin() as session:
            raw = make.document(*steps, **more)
            return make.live(session, self.workspace, raw, self.clock.now()).public_id

    def move(self, automation: str, wish: service.Wish) -> None:
        """Ask for a status and get it."""
        with self.uow.begin() as session:
            moved = service.move(
                session, self.workspace, automation, wish, make.ACTOR, self.clock.now()
            )
        assert isinstance(moved, Transitioned), moved

    def fire(self) -> int:
        with self.uow.begin() as session:
            return make.fire(session, self.workspace, self.people, self.clock.now())

    def ended(self) -> Counter[str]:
        """Return how many runs stand in which status."""
        with self.uow.read() as session:
            return Counter(session.scalars(select(AutomationRun.status)).all())

    def mails(self) -> int:
        """Return how many mails were queued."""
        with self.uow.read() as session:
            return session.scalar(select(func.count(EmailSend.id))) or 0

    def assert_books(self) -> None:
        """Check that statuses, counters and the log agree."""
        with self.uow.read() as session:
            assert_books(session)

    def copies(self) -> Counter[int]:
        """Return how many mails were handed to the server how often."""
        return Counter(Counter(each.public_id for each in self.transport.letters).values())


@pytest.fixture
def crowd(house: House, clock: FixedClock) -> Callable[[int], Crowd]:
    """Return a maker of crowds."""
    return lambda people: Crowd(house, clock, people)


def together(*acts: Callable[[], object]) -> None:
    """Let all acts begin at the same instant, each in a thread; raise what one of them raised."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> None:
        barrier.wait(30)
        act()

    with ThreadPoolExecutor(len(acts)) as pool:
        for done in [pool.submit(run, act) for act in acts]:
            done.result(120)


def test_dup_03_two_sweeps_at_the_same_instant_send_each_mail_once(
    crowd: Callable[[int], Crowd],
) -> None:
    here = crowd(PEOPLE)
    here.live(make.email("mail", here.template))
    for number in range(1, ROUNDS + 1):
        assert here.fire() == PEOPLE
        together(*(walker.sweep for walker in here.steps))
        assert here.ended() == {"completed": number * PEOPLE}
        assert here.mails() == number * PEOPLE
        if number == 1:
            together(*(walker.sweep for walker in here.sends))
            assert here.copies() == {1: PEOPLE}
    here.assert_books()


def test_q_03_an_emptied_queue_loses_none_of_500_waiting_runs(
    crowd: Callable[[int], Crowd], dispatch: RecordingDispatch
) -> None:
    here = crowd(500)
    here.live(make.delay("wait", 2, "minutes"), make.email("mail", here.template))
    assert here.fire() == 500
    here.steps[0].sweep()
    for _minute in range(3):
        dispatch.take()
        here.clock.advance(timedelta(minutes=1))
        here.steps[0].sweep()
        here.sends[0].sweep()
    assert here.ended() == {"completed": 500}
    assert here.copies() == {1: 500}


def follow(here: Crowd, dispatch: RecordingDispatch) -> None:
    """Take hint after hint at its own time, as a queue does; no sweep runs."""
    while dispatch.effects:
        hint: Any = min(dispatch.effects, key=lambda each: getattr(each, "due_at", None) or NOW)
        dispatch.effects.remove(hint)
        if hint.due_at is not None:
            here.clock.set(max(hint.due_at, here.clock.now()))
        if hasattr(hint, "step_run_ids"):
            here.steps[0].walk(hint.step_run_ids)
        else:
            here.sends[0].walk(hint.pool, hint.send_ids)


def test_with_all_sweeps_off_a_run_with_waits_under_a_minute_ends(
    crowd: Callable[[int], Crowd], dispatch: RecordingDispatch
) -> None:
    here = crowd(3)
    here.live(
        make.email("one", here.template),
        make.delay("short", 0.5, "minutes"),
        make.branch("ask"),
        make.delay("just", 59 / 60, "minutes"),
        make.email("two", here.template),
    )
    assert here.fire() == 3
    follow(here, dispatch)
    assert here.ended() == {"completed": 3}
    assert here.copies() == {1: 6}
    here.assert_books()


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_jumps_an_hour_loses_and_doubles_nothing(
    crowd: Callable[[int], Crowd], hours: int
) -> None:
    here = crowd(20)
    here.live(
        make.email("one", here.template),
        make.delay("wait", 10, "minutes"),
        make.email("two", here.template),
    )
    here.fire()
    held = here.steps[0].claim(None, 10)
    here.clock.advance(timedelta(hours=hours))
    here.steps[1].sweep()
    here.steps[0].settle(held, here.steps[0].run(held))
    here.clock.advance(timedelta(hours=-hours))
    for _ in range(16):
        here.clock.advance(timedelta(minutes=5))
        here.steps[1].sweep()
        here.sends[1].sweep()
    assert here.ended() == {"completed": 20}
    assert here.copies() == {1: 40}
    here.assert_books()


def test_a_late_worker_writes_nothing_into_a_step_that_was_parked(
    crowd: Callable[[int], Crowd],
) -> None:
    here = crowd(1)
    held = here.live(make.email("mail", here.template), on_pause="hold")
    here.fire()
    claimed = here.steps[0].claim(None, 1)
    here.clock.advance(timedelta(seconds=121))
    here.move(held, service.Wish("paused"))
    here.steps[1].sweep()
    here.steps[0].settle(claimed, here.steps[0].run(claimed))
    here.assert_books()
    assert here.ended() == {"running": 1}
    here.move(held, service.Wish("active", resume="shift"))
    here.clock.advance(timedelta(minutes=5))
    here.steps[1].sweep()
    here.sends[1].sweep()
    assert here.ended() == {"completed": 1}
    assert here.copies() == {1: 1}
    here.assert_books()
