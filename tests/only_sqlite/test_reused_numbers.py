"""SQLite alone, because only it gives the number of a deleted row away to the next one."""

from sqlalchemy import delete, select

from engine.automations.models import AutomationRun, AutomationStepRun
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import EmailSend
from tests.factories import automations as make
from tests.factories import delivery
from tests.factories.world import World


def test_a_visit_with_the_number_of_a_deleted_one_gets_a_mail_of_its_own(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock)
    with uow.begin() as session:
        delivery.sender(session, world.workspace_id)
        first, second = (delivery.template(session, world.workspace_id).public_id for _ in range(2))
    old = world.walk_once(make.email("old", first))
    before = world.visits(old)[0]
    with uow.begin() as session:
        session.execute(delete(AutomationStepRun))
        session.execute(delete(AutomationRun))
    after = world.visits(world.walk_once(make.email("new", second)))[0]
    assert after.id == before.id
    assert after.email_send_id not in (None, before.email_send_id)
    with uow.read() as session:
        assert len(session.scalars(select(EmailSend.id)).all()) == 2
