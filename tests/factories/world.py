"""A small world for walker tests: one workspace with people, a walker, a clock that moves."""

import itertools
from collections.abc import Sequence
from typing import Any, Final

from engine.audience.queries import ContactRow
from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience
from tests.factories import automations as make

_NUMBERS: Final = itertools.count(1)


class World:
    """One workspace with people, a walker, and a clock that the test moves."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock, people: int = 1) -> None:
        self.uow, self.clock, self.walker = uow, clock, StepWalker(uow)
        with uow.begin() as session:
            self.workspace_id = accounts.workspace(session).id
            self.people: list[ContactRow] = [
                audience.contact(session, self.workspace_id, first_name=name)
                for name in (["Ada", "Bob"] * people)[:people]
            ]

    def live(self, *steps: dict[str, Any]) -> Automation:
        with self.uow.begin() as session:
            raw = make.document(*steps)
            return make.live(session, self.workspace_id, raw, self.clock.now())

    def fire(self) -> int:
        with self.uow.begin() as session:
            return make.fire(session, self.workspace_id, self.people, self.clock.now())

    def walk_once(self, *steps: dict[str, Any]) -> Automation:
        """Return an automation that everybody has just walked; no other one was started by it."""
        name = f"go{next(_NUMBERS)}"
        trigger = {"type": "event_received", "config": {"event_name": name}}
        with self.uow.begin() as session:
            raw, at = make.document(*steps, trigger=trigger), self.clock.now()
            automation = make.live(session, self.workspace_id, raw, at)
            make.fire(session, self.workspace_id, self.people, at, name)
        self.walker.sweep()
        return automation

    def run(self, automation: Automation) -> AutomationRun:
        with self.uow.read() as session:
            return make.runs(session, automation)[0]

    def log(self, automation: Automation) -> list[tuple[str, str]]:
        with self.uow.read() as session:
            run = make.runs(session, automation)[0]
            return [(visit.step_key, visit.status) for visit in make.visits(session, run)]

    def visits(self, automation: Automation) -> Sequence[AutomationStepRun]:
        with self.uow.read() as session:
            return make.visits(session, make.runs(session, automation)[0])
