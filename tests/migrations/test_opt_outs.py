"""Who had opted out before opt-outs were kept by address is known by it after the upgrade."""

from collections.abc import Iterator

import pytest
from sqlalchemy import make_url, select
from sqlalchemy.orm import Session

from engine.audience import service
from engine.audience.inputs import API
from engine.audience.models import OptOut
from engine.audience.queries import ContactRow
from engine.core.db import Database
from engine.core.unit_of_work import UnitOfWork
from migrations import run
from tests.factories import accounts
from tests.factories import audience as make
from tests.factories.accounts import AT


@pytest.fixture
def uow(empty_database_url: str) -> Iterator[UnitOfWork]:
    """Return the transactions of a database that this test migrates up and down."""
    database = Database(make_url(empty_database_url))
    run.upgrade(database.engine)
    yield UnitOfWork(database)
    database.dispose()


def left(session: Session, workspace: int, email: str, *, opted_out: bool) -> ContactRow:
    """Return somebody who was deleted, and had opted out or not."""
    person = make.contact(session, workspace, email)
    if opted_out:
        service.opt_out(session, workspace, person.public_id, API, AT)
    service.delete_contact(session, workspace, person.public_id, make.ACTOR, AT)
    return person


def test_the_upgrade_marks_the_addresses_of_all_who_had_opted_out(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        kim = make.contact(session, workspace, "kim@people.example")
        service.opt_out(session, workspace, kim.public_id, API, AT)
        left(session, workspace, "ada@people.example", opted_out=True)
        left(session, workspace, "bob@people.example", opted_out=False)
        left(session, workspace, "eve@people.example", opted_out=True)
        back = make.contact(session, workspace, "eve@people.example")
        topic = make.topic(session, workspace)
        service.subscribe(session, workspace, topic.public_id, back.public_id, API, AT)
        before = set(session.scalars(select(OptOut.address_hash)))
    run.downgrade(uow.database.engine, "0002")
    run.upgrade(uow.database.engine)
    with uow.begin() as session:
        assert set(session.scalars(select(OptOut.address_hash))) == before
        assert set(session.scalars(select(OptOut.opted_out_at))) == {AT}
        assert len(before) == 2
        service.delete_contact(session, workspace, back.public_id, make.ACTOR, AT)
        for name, since in (("ada", AT), ("bob", None), ("eve", None)):
            person = make.contact(session, workspace, f"{name}@people.example")
            assert person.unsubscribed_at == since, name
