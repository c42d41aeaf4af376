"""A session scoped to a workspace reaches no other, by ORM, Core or text (decision G4)."""

from collections.abc import Callable

import pytest
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.orm import Session

from engine.audience.models import Contact, Topic
from engine.core import db
from engine.core.clock import FixedClock
from engine.core.db import Base
from engine.core.ids import new_public_id
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience

CONTACTS = Base.metadata.tables[Contact.__tablename__]


@pytest.fixture
def two(uow: UnitOfWork) -> tuple[int, int]:
    """Return the ids of two workspaces with one contact each."""
    with uow.begin() as session:
        ids = [accounts.workspace(session).id for _ in range(2)]
        for workspace_id in ids:
            audience.contact(session, workspace_id, email=f"p{workspace_id}@x.example")
    return ids[0], ids[1]


def test_an_orm_statement_sees_its_own_workspace_only(
    uow: UnitOfWork, two: tuple[int, int]
) -> None:
    with uow.read(two[0]) as session:
        assert [row.workspace_id for row in session.scalars(select(Contact))] == [two[0]]
    with uow.read() as session:
        assert len(session.scalars(select(Contact)).all()) == 2


REFUSED: list[Callable[[Session], object]] = [
    lambda session: session.execute(select(CONTACTS.c.id)),
    lambda session: session.execute(text("SELECT id FROM contacts")),
    lambda session: session.execute(text("SELECT 1 FROM workspaces, contacts")),
    lambda session: session.execute(text('DELETE FROM "contacts"')),
    lambda session: session.execute(update(CONTACTS).values(first_name="x")),
    lambda session: session.execute(delete(CONTACTS)),
    lambda session: session.execute(
        text("SELECT c.id FROM topics t JOIN contacts c ON c.workspace_id = t.workspace_id")
    ),
]


@pytest.mark.parametrize("act", REFUSED)
def test_a_statement_without_a_workspace_is_refused(
    uow: UnitOfWork, two: tuple[int, int], act: Callable[[Session], object]
) -> None:
    with uow.read(two[0]) as session, pytest.raises(db.WorkspaceBreach):
        act(session)


def test_a_statement_that_names_its_workspace_runs(uow: UnitOfWork, two: tuple[int, int]) -> None:
    with uow.read(two[0]) as session:
        found = session.execute(select(CONTACTS.c.id).where(CONTACTS.c.workspace_id == two[0]))
        assert len(found.all()) == 1


def test_a_row_of_another_workspace_is_not_written(
    uow: UnitOfWork, two: tuple[int, int], clock: FixedClock
) -> None:
    abroad = Topic(
        workspace_id=two[1], public_id=new_public_id(), name="abroad", created_at=clock.now()
    )
    with uow.begin(two[0]) as session:
        session.add(abroad)
        with pytest.raises(db.WorkspaceBreach):
            session.flush()
        session.expunge_all()


def test_an_insert_must_name_the_workspace(uow: UnitOfWork, two: tuple[int, int]) -> None:
    with uow.begin(two[0]) as session, pytest.raises(db.WorkspaceBreach):
        session.execute(insert(CONTACTS).values(public_id="x"))


def test_a_session_cannot_change_its_workspace(uow: UnitOfWork, two: tuple[int, int]) -> None:
    with uow.read(two[0]) as session, pytest.raises(db.WorkspaceBreach):
        db.scope(session, two[1])


def test_a_scope_does_not_outlive_its_session(uow: UnitOfWork, two: tuple[int, int]) -> None:
    with uow.read(two[0]) as session:
        session.scalars(select(Contact)).all()
    with uow.read() as session:
        assert len(session.execute(select(CONTACTS.c.id)).all()) == 2
