"""A suspended workspace stands still, its neighbour does not; nothing is lost when it goes on."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from engine.accounts import service
from engine.audience.queries import ContactRow
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import QUEUED, SENT, EmailSend
from engine.house import House
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make


class Place:
    """A workspace with one person, a mail that waits and an automation that the person is in."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock, name: str) -> None:
        self._uow = uow
        with uow.begin() as session:
            self.id = accounts.workspace(session, name).id
            self.person: ContactRow = audience.contact(session, self.id)
            delivery.sender(session, self.id, f"team@{name.lower()}.example")
            template = delivery.template(session, self.id)
            document = make.document(make.delay("wait"), make.email("hello", template.public_id))
            self.automation: Automation = make.live(session, self.id, document, clock.now())
            make.fire(session, self.id, [self.person], clock.now())

    def way(self) -> list[tuple[str, str]]:
        """Return the log of the person's run."""
        with self._uow.read() as session:
            run = make.runs(session, self.automation)[0]
            return [(visit.step_key, visit.status) for visit in make.visits(session, run)]

    def mails(self) -> list[str]:
        """Return the statuses of the workspace's mails."""
        with self._uow.read() as session:
            sends = select(EmailSend.status).where(EmailSend.workspace_id == self.id)
            return list(session.scalars(sends.order_by(EmailSend.id)))


@pytest.fixture
def acme(uow: UnitOfWork, clock: FixedClock) -> Place:
    """Return the workspace that will be suspended."""
    return Place(uow, clock, "Acme")


@pytest.fixture
def other(uow: UnitOfWork, clock: FixedClock) -> Place:
    """Return its neighbour."""
    return Place(uow, clock, "Other")


def work(house: House) -> None:
    """Run the sweeps that move people and mails."""
    house.sweeps["steps"]()
    house.sweeps["sends"]()


def test_due_steps_of_a_suspended_workspace_wait_and_its_neighbour_goes_on(
    house: House, uow: UnitOfWork, clock: FixedClock, acme: Place, other: Place
) -> None:
    with uow.begin() as session:
        service.suspend(session, acme.id, make.ACTOR, clock.now())
    clock.advance(timedelta(days=2))
    work(house)
    assert (acme.way(), acme.mails()) == ([("wait", "pending")], [])
    assert other.way() == [("wait", "completed"), ("hello", "completed")]
    assert other.mails() == [SENT]
    with uow.begin() as session:
        service.resume(session, acme.id, make.ACTOR, clock.now())
    work(house)
    assert acme.way() == [("wait", "completed"), ("hello", "completed")]
    assert acme.mails() == [SENT]


def test_queued_mails_of_a_suspended_workspace_wait(
    house: House, uow: UnitOfWork, clock: FixedClock, acme: Place
) -> None:
    clock.advance(timedelta(days=2))
    house.sweeps["steps"]()
    assert acme.mails() == [QUEUED]
    with uow.begin() as session:
        service.suspend(session, acme.id, make.ACTOR, clock.now())
    work(house)
    assert acme.mails() == [QUEUED]
    with uow.begin() as session:
        service.resume(session, acme.id, make.ACTOR, clock.now())
    work(house)
    assert acme.mails() == [SENT]
