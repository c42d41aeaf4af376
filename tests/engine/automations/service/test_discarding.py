"""A template that automations name stays, whoever deletes it; one that none names goes softly."""

import pytest
from sqlalchemy import select

from engine.automations import service
from engine.automations.service.discarding import discard_template
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import Template
from tests.factories import accounts, delivery
from tests.factories import automations as make


@pytest.mark.parametrize("live", [True, False])
def test_a_template_that_automations_name_stays_and_their_number_is_told(
    uow: UnitOfWork, clock: FixedClock, live: bool
) -> None:
    at = clock.now()
    with uow.begin() as session:
        place = accounts.workspace(session).id
        delivery.sender(session, place)
        used, free = (delivery.template(session, place).public_id for _ in range(2))
        for name in ("One", "Two"):
            raw = make.document(make.email("mail", used), make.email("more", used), name=name)
            if live:
                make.live(session, place, raw, at)
            else:
                assert isinstance(
                    service.create(session, place, raw, make.ACTOR, at), service.Saved
                )
    with uow.begin() as session:
        kept = discard_template(session, place, used, make.ACTOR, at)
        assert kept == Refused("template_in_use", params={"count": 2})
        assert discard_template(session, place, free, make.ACTOR, at) is None
        again = discard_template(session, place, free, make.ACTOR, at)
        assert again == Refused("template_not_found", "missing")
    with uow.read() as session:
        rows = session.execute(select(Template.public_id, Template.deleted_at)).all()
    assert {row.public_id: row.deleted_at for row in rows} == {used: None, free: at}
