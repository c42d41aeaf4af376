"""Engines say nothing of people in their errors, and begin as they are told."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError, StatementError

from engine.audience import queries, service
from engine.audience.inputs import API, ContactPatch
from engine.audience.models import Contact
from engine.core import events
from engine.core.events import Event, NewEvent
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience

# The hour that Berlin lives twice: the same wall clock, one hour apart.
TWICE = [
    datetime.fromisoformat(f"2026-10-25T02:30:00.123456{zone}") for zone in ("+02:00", "+01:00")
]


def test_an_error_of_the_database_carries_no_value(uow: UnitOfWork) -> None:
    broken = text("SELECT * FROM no_such_table WHERE email = :email")
    with uow.read() as session, pytest.raises(DBAPIError) as caught:
        session.execute(broken, {"email": "secret@person.example"})
    assert "secret@person.example" not in str(caught.value)


def test_upg_08_an_instant_comes_back_as_the_same_instant_in_utc(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        audience.custom_property(session, workspace, "met", "instant")
        people = [audience.contact(session, workspace) for _ in TWICE]
        for person, at in zip(people, TWICE, strict=True):
            events.record(session, [NewEvent(workspace, person.row_id, "x", API, at)], at)
            patch = ContactPatch(properties={"met": at.isoformat()})
            service.update_contacts(session, workspace, {person.row_id: patch}, API, at)
    with uow.read() as session:
        in_batches = select(Event.occurred_at).where(Event.kind == "x").order_by(Event.id)
        singly = select(Contact.updated_at).order_by(Contact.id)
        values = queries.property_values(session, workspace, [each.row_id for each in people])
        told = [
            list(session.scalars(in_batches)),
            list(session.scalars(singly)),
            [values[person.row_id]["met"].instant for person in people],
        ]
    for instants in told:
        assert instants == TWICE
        assert [at.tzinfo for at in instants if at] == [UTC, UTC]
    assert TWICE[1] - TWICE[0] == timedelta(hours=1)


def test_upg_08_an_instant_without_a_zone_is_refused(uow: UnitOfWork) -> None:
    with uow.read() as session, pytest.raises(StatementError, match="time zone"):
        session.execute(select(Event.id).where(Event.occurred_at < TWICE[0].replace(tzinfo=None)))
