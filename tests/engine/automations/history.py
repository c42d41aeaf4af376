"""A small installation that a history may do anything to: workers, a queue, a mail server, people.

Workers share the database alone. What they hand over lies in `queue`, from which a history takes
hints when and as often as it likes.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete, select

from engine.audience import service as audience
from engine.audience.inputs import API, ContactPatch
from engine.automations import service
from engine.automations.effects import WalkSteps
from engine.automations.models import (
    AutomationEntry,
    AutomationRun,
    AutomationStatShard,
    AutomationStepRun,
    AutomationStepStat,
    RunMove,
    TriggerDecision,
)
from engine.automations.walker import StepWalker
from engine.core import faults
from engine.core.clock import FixedClock
from engine.core.effects import Effect
from engine.core.faults import Crash
from engine.core.outbox import ProductEvent
from engine.core.outbox.drain import Drain
from engine.core.walking import beat
from engine.delivery.effects import DispatchSends
from engine.delivery.kinds.base import SERVER_ERROR, Rejected, Unanswered
from engine.delivery.models import POOL_CAMPAIGN, POOL_TRANSACTIONAL, EmailSend, SentMessage
from engine.delivery.walker import SendWalker
from engine.house import House
from tasks.periodic import run_sweep
from tests.engine.automations.plans import OddStep, documents, edited
from tests.factories import accounts, delivery
from tests.factories import audience as people
from tests.factories import automations as make
from tests.fakes.dispatch import RecordingDispatch
from tests.fakes.receiver import EventReceiver
from tests.fakes.transports import ScriptedTransport

LAPSE: Final = timedelta(seconds=121)
RATES: Final = {POOL_TRANSACTIONAL: 1_000, POOL_CAMPAIGN: 1_000}
EMPTIED: Final[Sequence[Any]] = (
    ProductEvent,
    SentMessage,
    EmailSend,
    RunMove,
    AutomationStepRun,
    AutomationRun,
    TriggerDecision,
    AutomationEntry,
    AutomationStatShard,
    AutomationStepStat,
)


class Installation:
    """One workspace with two workers; every act is one thing that may happen to it."""

    def __init__(self, house: House, clock: FixedClock, dispatch: RecordingDispatch) -> None:
        self.uow, self.clock, self.dispatch = house.runtime.uow, clock, dispatch
        self.odd = OddStep()
        self.transport = ScriptedTransport()
        self.transport.meanwhile = self._in_the_air
        self.receiver = EventReceiver()
        self.slow: list[Callable[[], None]] = []
        # Of one worker each: nothing but the database is shared.
        self.walkers = [StepWalker(self.uow) for _ in range(2)]
        links = house.sends.links
        self.senders = [SendWalker(self.uow, self.transport, links, RATES) for _ in range(2)]
        self.house = House(
            house.runtime,
            self.walkers[0],
            house.jobs,
            self.senders[0],
            {
                "steps": self.walkers[0].sweep,
                "sends": self.senders[0].sweep,
                "outbox": Drain(self.uow, "https://events.example", "key", self.receiver).sweep,
            },
        )
        self.claimed: list[tuple[StepWalker, Sequence[Any]]] = []
        self.passed: Counter[str] = Counter()
        self.sprung: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.automations: dict[str, str] = {}
        self.ticks = 0

    def begin(self) -> None:
        """Empty the log, then make a workspace with people and live automations."""
        faults.disarm()
        self.dispatch.take()
        self.transport.letters.clear()
        self.receiver.taken.clear()
        with self.uow.begin() as session:
            for row in EMPTIED:
                session.execute(delete(row))
        with self.uow.begin() as session:
            self.workspace = accounts.workspace(session).id
            delivery.sender(session, self.workspace)
            template = delivery.template(session, self.workspace, allow_repeat=True).public_id
            topic = people.topic(session, self.workspace).public_id
            self.people = [
                people.contact(session, self.workspace, first_name=name)
                for name in ("Ada", "Bob", "Ada")
            ]
            self.plans = documents(template, topic)
            for name, raw in self.plans.items():
                made = make.live(session, self.workspace, raw, self.clock.now())
                self.automations[name] = made.public_id

    def _in_the_air(self) -> None:
        """The body has left and no answer has come: whatever the history put here happens."""
        faults.point("send.left")
        if self.slow:
            self.slow.pop()()

    def crash(self, name: str, nth: int, act: Callable[[], object]) -> None:
        """Let `act` happen in a worker that vanishes at the nth pass of a fault point."""
        watch = faults.arm(faults.Trap(name, nth, faults.CRASH))
        try:
            self.survive(act)
        finally:
            faults.disarm()
            self.passed += watch.passed
            self.sprung += watch.sprung

    def survive(self, act: Callable[[], object]) -> None:
        """Let `act` happen; a worker that dies of it is gone, and what it knew."""
        try:
            act()
        except Crash:
            self.odd.moods.clear()

    def post(self, person: int) -> None:
        """Post the event that starts every automation."""
        with self.uow.begin() as session:
            make.fire(session, self.workspace, [self.people[person]], self.clock.now())

    def deliver(self, place: int, worker: int, *, kept: bool = False) -> None:
        """Take one hint from anywhere in the queue; `kept`: it will come once more."""
        if not self.dispatch.effects:
            return
        place %= len(self.dispatch.effects)
        hint = self.dispatch.effects[place] if kept else self.dispatch.effects.pop(place)
        self._take(hint, worker)

    def _take(self, hint: Effect, worker: int) -> None:
        if isinstance(hint, WalkSteps):
            self.walkers[worker].walk(hint.step_run_ids)
        elif isinstance(hint, DispatchSends):
            self.senders[worker].walk(hint.pool, hint.send_ids)

    def lose(self) -> None:
        """Empty the queue."""
        self.dispatch.take()

    def sweep(self, name: str) -> None:
        """Run a sweep as the timetable does: by a tick that is claimed first."""
        self.ticks += 1
        run_sweep(self.house, name, self.ticks)

    def claim(self, worker: int) -> None:
        """Let a worker claim what is due, and no more for now."""
        items = self.walkers[worker].claim(None, 3)
        if items:
            self.claimed.append((self.walkers[worker], items))

    def finish_claimed(self, place: int) -> None:
        """Let a worker that has claimed run and settle, however late."""
        if self.claimed:
            beat(*self.claimed.pop(place % len(self.claimed)))

    def hang(self) -> None:
        """Let time pass beyond every lease while another worker goes on."""
        self.clock.advance(LAPSE)
        self.walkers[1].sweep()
        self.senders[1].sweep()

    def refuse(self, how: str) -> None:
        """Let the mail server misbehave once."""
        match how:
            case "later":
                self.transport.before.append(Rejected(SERVER_ERROR, "451", temporary=True))
            case "never":
                self.transport.before.append(Rejected(SERVER_ERROR, "550", temporary=False))
            case "silent":
                self.transport.behind.append(Unanswered("nothing"))
            case _:
                self.slow.append(self.hang)

    def move(self, name: str, wish: service.Wish) -> object:
        """Ask for a status; a refusal is an answer."""
        with self.uow.begin() as session:
            return service.move(
                session, self.workspace, self.automations[name], wish, make.ACTOR, self.clock.now()
            )

    def publish(self, name: str, people_inside: str, which: int) -> object:
        """Edit the draft, then put it in force beside the people who are inside."""
        raw = edited(self.plans[name], which)
        with self.uow.begin() as session:
            row = service.find(session, self.workspace, self.automations[name])
            if row is None:
                return None
            acting = (make.ACTOR, self.clock.now())
            place = (session, self.workspace, row.public_id)
            service.save(*place, raw, row.draft_version, *acting)
            return service.publish(*place, people_inside, *acting)

    def remove(self, name: str) -> object:
        """Delete an automation, where that is allowed."""
        with self.uow.begin() as session:
            return service.remove(
                session, self.workspace, self.automations[name], make.ACTOR, self.clock.now()
            )

    def delete_person(self, person: int) -> object:
        """Delete a person."""
        with self.uow.begin() as session:
            return audience.delete_contact(
                session,
                self.workspace,
                self.people[person].public_id,
                make.ACTOR,
                self.clock.now(),
            )

    def rename(self, person: int, name: str) -> object:
        """Give a person another first name, which conditions look at."""
        with self.uow.begin() as session:
            return audience.update_contact(
                session,
                self.workspace,
                self.people[person].public_id,
                ContactPatch({"first_name": name}),
                API,
                self.clock.now(),
            )

    def opt_out(self, person: int) -> None:
        """Let a person unsubscribe from everything."""
        with self.uow.begin() as session:
            audience.opt_out(
                session, self.workspace, self.people[person].public_id, API, self.clock.now()
            )

    def waiting(self) -> tuple[int, int]:
        """Return how many visits and mails are still open."""
        with self.uow.read() as session:
            steps = session.scalars(
                select(AutomationStepRun.id).where(
                    AutomationStepRun.status.in_(("pending", "executing")),
                    AutomationStepRun.held_at.is_(None),
                )
            ).all()
            sends = session.scalars(select(EmailSend.id).where(EmailSend.status == "queued")).all()
            return len(steps), len(sends)
