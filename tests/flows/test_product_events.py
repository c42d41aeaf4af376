"""Product events from the transition to a real receiver: one per real transition, none else.

Facts 1.13, decision C12, T-C22: what the system does by itself is told like what people do.
"""

from datetime import timedelta

import pytest

from engine.automations import lifecycle, service
from engine.automations.models import ACTIVE, DRAFT, PAUSED, Automation
from engine.core.clock import FixedClock
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.core.settings import Settings
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import accounts
from tests.factories import automations as make
from tests.support.receiver import Receiver


@pytest.fixture
def settings(settings: Settings, receiver: Receiver) -> Settings:
    """Return settings that name the receiver; nothing else allows its loopback address."""
    return settings.model_copy(update={"posthog_url": receiver.url})


def told(receiver: Receiver) -> list[tuple[str, str]]:
    """Return what the receiver was told: event and who acted, in order."""
    batches = [request.json["batch"] for request in receiver.received]
    return [(event["event"], event["distinct_id"]) for batch in batches for event in batch]


class Yard:
    """One automation whose statuses change, each change in a commit of its own."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self._uow, self._clock = uow, clock
        with uow.begin() as session:
            self._workspace_id = accounts.workspace(session).id
            raw = make.document(make.delay("a"))
            saved = service.create(session, self._workspace_id, raw, make.ACTOR, clock.now())
            assert isinstance(saved, service.Saved)
            self.public_id = saved.public_id

    def ask(self, to: str) -> Transitioned | Recorded | Refused:
        """Ask for a status as a person does."""
        with self._uow.begin() as session:
            wish, at = service.Wish(to), self._clock.advance(timedelta(minutes=1))
            place = (session, self._workspace_id, self.public_id)
            return service.move(*place, wish, make.ACTOR, at)

    def activate_in_vain(self) -> None:
        """Activate in a transaction that breaks before its commit."""
        with self._uow.begin() as session:
            wish, at = service.Wish(ACTIVE), self._clock.now()
            service.move(session, self._workspace_id, self.public_id, wish, make.ACTOR, at)
            raise ZeroDivisionError

    def fail(self, runs: int) -> None:
        """Let so many runs in a row have failed."""
        with self._uow.begin() as session:
            row = service.find(session, self._workspace_id, self.public_id)
            assert isinstance(row, Automation)
            lifecycle.record_failures(session, {row.id: runs}, self._clock.now())


def test_the_receiver_hears_of_each_real_transition_once(
    house: House, uow: UnitOfWork, clock: FixedClock, receiver: Receiver
) -> None:
    yard, person = Yard(uow, clock), make.ACTOR.name
    assert isinstance(yard.ask(PAUSED), Refused)
    assert isinstance(yard.ask(DRAFT), Recorded)
    assert isinstance(yard.ask(ACTIVE), Transitioned)
    assert isinstance(yard.ask(ACTIVE), Recorded)
    assert isinstance(yard.ask(PAUSED), Transitioned)
    assert isinstance(yard.ask(ACTIVE), Transitioned)
    yard.fail(4)
    yard.fail(1)
    assert isinstance(yard.ask(PAUSED), Recorded)
    assert isinstance(yard.ask(DRAFT), Transitioned)
    assert house.sweeps["outbox"]() == {"delivered": 5, "failed": 0, "postponed": 0}
    assert house.sweeps["outbox"]() == {"delivered": 0, "failed": 0, "postponed": 0}
    assert told(receiver) == [
        ("automation_activated", person),
        ("automation_paused", person),
        ("automation_resumed", person),
        ("automation_paused", "system:automation-breaker"),
        ("automation_reverted_to_draft", person),
    ]


def test_an_event_names_the_automation_and_nobody(
    house: House, uow: UnitOfWork, clock: FixedClock, receiver: Receiver
) -> None:
    yard = Yard(uow, clock)
    yard.ask(ACTIVE)
    house.sweeps["outbox"]()
    [event] = receiver.received[0].json["batch"]
    assert event["properties"] == {
        "automation_id": yard.public_id,
        "previous_status": DRAFT,
        "new_status": ACTIVE,
    }


def test_what_is_rolled_back_is_not_told(
    house: House, uow: UnitOfWork, clock: FixedClock, receiver: Receiver
) -> None:
    yard = Yard(uow, clock)
    with pytest.raises(ZeroDivisionError):
        yard.activate_in_vain()
    assert house.sweeps["outbox"]() == {"delivered": 0, "failed": 0, "postponed": 0}
    assert receiver.received == []
