"""Somebody to simulate and really walk with: a workspace, one person, steps in few words."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from engine.audience.queries import ContactRow
from engine.automations.document import Document, read_document
from engine.automations.models import COMPLETED, Automation
from engine.automations.simulating import Simulation, Trial, simulate, trigger_data
from engine.automations.somebody import Somebody, of_contact
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.db import scope
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, delivery
from tests.factories import audience as people
from tests.factories import automations as make
from tests.factories.delivery import LINKS
from tests.support.untouched import untouched

Step = dict[str, Any]


class Office:
    """A workspace with one person, templates, a topic; simulates and really walks."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.uow, self.clock = uow, clock
        with uow.begin() as session:
            self.workspace: int = accounts.workspace(session).id
            delivery.sender(session, self.workspace)
            self.template = delivery.template(
                session,
                self.workspace,
                html="<p>{{ contact.first_name }} {{ properties.plan }} {{ event.seats }}</p>",
            ).public_id
            for key, kind in (("plan", "text"), ("seats", "number"), ("vip", "boolean")):
                people.custom_property(session, self.workspace, key, kind)
            self.topic = people.topic(session, self.workspace).public_id
            self.careful = people.topic(
                session, self.workspace, "Careful", require_double_opt_in=True
            ).public_id
            self.kim: ContactRow = people.contact(
                session,
                self.workspace,
                "kim@people.example",
                {"plan": "team", "seats": 12},
                first_name="Kim",
            )

    def document(self, *steps: Step) -> Document:
        read = read_document(make.document(*steps))
        assert isinstance(read, Document), read
        return read

    def simulated(
        self,
        *steps: Step,
        who: Somebody | None = None,
        event: Mapping[str, Any] | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> Simulation:
        document, at = self.document(*steps), self.clock.now()
        with untouched(self.uow), self.uow.read() as session:
            scope(session, self.workspace)
            somebody = who or of_contact(session, self.workspace, self.kim.public_id)
            assert somebody is not None
            trigger = trigger_data(document, event, at)
            trial = Trial("A1", document, somebody, at, trigger, choices or {})
            return simulate(session, self.workspace, trial, LINKS)

    def walked(self, *steps: Step, event: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return key, branch, result and length of each visit of a real run."""
        start = self.clock.now()
        with self.uow.begin() as session:
            automation: Automation = make.live(
                session, self.workspace, make.document(*steps), start
            )
            assert make.fire(session, self.workspace, [self.kim], start, **(event or {})) == 1
        steps_walker = StepWalker(self.uow)
        for _ in range(40):
            steps_walker.sweep()
            self.clock.advance(timedelta(hours=12))
        with self.uow.read() as session:
            run = make.runs(session, automation)[-1]
            assert run.status == COMPLETED
            return [
                (visit.step_key, visit.result or {}, (visit.completed_at or start) - start)
                for visit in make.visits(session, run)
                if visit.status == COMPLETED
            ]


def rule(key: str, field: str, operator: str, value: object = None, **exits: str) -> Step:
    """Return a branch on a property."""
    asked = {"kind": "contact_property", "field": field, "operator": operator}
    if value is not None:
        asked["value"] = value  # type: ignore[assignment]
    return {"key": key, "type": "condition", "config": {"condition": asked, **exits}}


def joins(key: str, topic: str, action: str = "subscribe") -> Step:
    """Return a topic step."""
    return {"key": key, "type": "topic", "config": {"topic_id": topic, "action": action}}


def sets(key: str, **changes: object) -> Step:
    """Return a step that changes the person."""
    return {"key": key, "type": "update_contact", "config": {"changes": changes}}


def member(key: str, topic: str, **exits: str) -> Step:
    """Return a branch on a topic."""
    asked = {"kind": "topic_membership", "topic_id": topic, "operator": "equals"}
    return {"key": key, "type": "condition", "config": {"condition": asked, **exits}}
