"""Engines say nothing of people in their errors, and begin as they are told."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from engine.core.unit_of_work import UnitOfWork


def test_an_error_of_the_database_carries_no_value(uow: UnitOfWork) -> None:
    broken = text("SELECT * FROM no_such_table WHERE email = :email")
    with uow.read() as session, pytest.raises(DBAPIError) as caught:
        session.execute(broken, {"email": "secret@person.example"})
    assert "secret@person.example" not in str(caught.value)
