"""From what happens to a person to the one mail it asks for."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from engine.audience import service as people
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import EmailSend
from tests.factories import audience, delivery
from tests.factories import automations as make
from tests.factories.world import World


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=2)


def mailing(world: World, trigger: dict[str, object] | None = None) -> Automation:
    """Return a live automation of one mail."""
    with world.uow.begin() as session:
        delivery.sender(session, world.workspace_id)
        template = delivery.template(session, world.workspace_id)
        raw = make.document(make.email("mail", template.public_id))
        return make.live(
            session,
            world.workspace_id,
            raw if trigger is None else {**raw, "trigger": trigger},
            world.clock.now(),
        )


def mails(world: World) -> list[EmailSend]:
    with world.uow.read() as session:
        return list(session.scalars(select(EmailSend).order_by(EmailSend.id)))


def test_ent_06_who_subscribes_after_the_activation_gets_one_mail(world: World) -> None:
    early, late = world.people
    with world.uow.begin() as session:
        topic = audience.topic(session, world.workspace_id)

    def subscribe(public_id: str) -> None:
        world.clock.advance(timedelta(minutes=1))
        with world.uow.begin() as session:
            people.subscribe(
                session,
                world.workspace_id,
                topic.public_id,
                public_id,
                "api",
                world.clock.now(),
            )
        world.walker.sweep()

    subscribe(early.public_id)
    mailing(world, {"type": "topic_subscribed", "config": {"topic_id": topic.public_id}})
    subscribe(late.public_id)
    assert [mail.contact_id for mail in mails(world)] == [late.row_id]
    subscribe(late.public_id)
    subscribe(early.public_id)
    assert [mail.contact_id for mail in mails(world)] == [late.row_id]


def test_rac_05_a_mail_is_a_row_with_a_key_of_its_own_before_it_leaves(world: World) -> None:
    automation = mailing(world)
    world.fire()
    items = world.walker.claim(None, 10)
    outcomes = world.walker.run(items)
    assert mails(world) == []
    world.walker.settle(items, outcomes)
    world.walker.settle(items, outcomes)
    found = mails(world)
    assert sorted(mail.dedupe_key for mail in found) == sorted(item.visit.key for item in items)
    assert {(mail.status, mail.handed_over_at) for mail in found} == {("queued", None)}
    with world.uow.read() as session:
        assert {run.status for run in make.runs(session, automation)} == {"completed"}
